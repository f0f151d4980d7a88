package policytool

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"world/store"
	"world/tools/overlay"
	"world/tools/policy"
)

// TestWriteMakesFolders: those that are not there are made, and told of in order.
func TestWriteMakesFolders(t *testing.T) {
	b := newBench(t)
	b.put("old/x", "")
	b.link("old", "link")
	b.link("late", "dangling")
	for path, made := range map[string]string{
		"new/x": "new", "old/sub/deep/x": "old/sub old/sub/deep", "link/in/x": "old/in", "./dot//y/x": "dot dot/y", "old/y": "", "dangling/x": "late",
	} {
		r := b.write(path, "text")
		var folders []string
		for i, c := range r.Changes {
			if last := i == len(r.Changes)-1; last != (c.Kind == overlay.Created) || last && c.After != store.RefOf([]byte("text")) {
				t.Errorf("%s: %+v", path, r.Changes)
			}
			if c.Kind == overlay.Directory {
				folders = append(folders, c.Path)
			}
		}
		if !r.OK || !r.Created || fmt.Sprint(folders) != "["+made+"]" || b.get(path) != "text" {
			t.Errorf("%s: %v %+v", path, folders, r)
		}
	}
}

// TestFoldersAreNoDeeperThanAWalk: what a write makes can be listed, however its path
// is written; a path of folders alone is refused at once, and leaves none.
func TestFoldersAreNoDeeperThanAWalk(t *testing.T) {
	b := newBench(t)
	if r := b.write("./"+strings.Repeat("d/", maxDepth)+"x", "text"); !r.OK {
		t.Errorf("%+v", r)
	}
	if r := b.flagged(map[string]string{"op": "list"}, "glob", "**/x"); !r.OK || r.Cut || len(r.Entries) != 1 {
		t.Errorf("%+v", r)
	}
	for _, path := range []string{strings.Repeat("d/", maxDepth+1) + "x", strings.Repeat("e/", 2040) + "x"} {
		if r := b.write(path, "text"); r.OK || !strings.Contains(r.Refused, "below 48 others") {
			t.Errorf("%.20s: %+v", path, r)
		}
	}
	if names, err := os.ReadDir(b.root); err != nil || len(names) != 1 {
		t.Errorf("left %v, %v", names, err)
	}
}

// TestFoldersKeepThePathLaw: where no file may be written no folder is made, and a
// refusal leaves none that it made before.
func TestFoldersKeepThePathLaw(t *testing.T) {
	b := newBench(t)
	b.put("file", "")
	outside := t.TempDir()
	b.link(outside, "away")
	b.link("../", "up")
	b.link(".github", "innocent")
	b.link("loop", "loop")
	for path, want := range map[string]string{
		".github/new/x": "read-only", "a/.git/new/x": "read-only", "a/b/.claude/x": "read-only", "innocent/new/x": "read-only", "a/.GIT/x": "read-only",
		"away/new/x": "escapes", "up/new/x": "escapes", "../new/x": "escapes", "/new/x": "escapes", "a/../../new/x": "makes none",
		"file/new/x": "not a directory", "loop/new/x": "too many levels", "a/" + strings.Repeat("n", 300) + "/x": "too long",
	} {
		if r := b.write(path, "text"); r.OK || !strings.Contains(r.Refused, want) {
			t.Errorf("%s: %+v", path, r)
		}
	}
	tree, err := openTree(policy.For(b.root))
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	// Not for a moment either: the folder itself is refused, not what would be in it.
	if made, err := tree.makeFolders("innocent/x"); err == nil || !strings.Contains(err.Error(), "read-only") || made != nil {
		t.Errorf("%v, %v", made, err)
	}
	names, err := os.ReadDir(b.root)
	if err != nil || len(names) != 5 {
		t.Errorf("%v, %v", names, err)
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) != 0 {
		t.Errorf("outside: %v, %v", left, err)
	}
	if _, err := os.Lstat(filepath.Join(filepath.Dir(b.root), "new")); err == nil {
		t.Error("a folder was made above the worktree")
	}
}

// TestDeepFolders: a path that a program has made may have as many parts as its length
// allows, both ways; a refusal takes all folders away again.
func TestDeepFolders(t *testing.T) {
	b := newBench(t)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	few := syscall.Rlimit{Cur: 128, Max: limit.Max} // as in the jail
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit) })
	const levels = 300
	down, up := strings.Repeat("d/", levels), strings.Repeat("../", levels)
	if r := b.write(strings.Repeat("d/", maxDepth-1)+".git/x", "text"); r.OK || !strings.Contains(r.Refused, "read-only") {
		t.Errorf("%+v", r)
	}
	if left, err := os.ReadDir(b.root); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
	if b.put(down+"y", ""); !b.write(down+"x", "text").OK {
		t.Error("no file may be made where folders are")
	}
	for _, path := range []string{down + "x", down + up + down + "x", down + "../../d/" + strings.Repeat("../", 60) + strings.Repeat("d/", 61) + "x"} {
		if r := b.read(path); !r.OK || r.Content != "text" {
			t.Errorf("%.20s of %d: %s", path, len(path), r.Refused)
		}
	}
	if r := b.read(down + up + "../x"); r.OK || !strings.Contains(r.Refused, "escapes") {
		t.Errorf("%+v", r)
	}
}
