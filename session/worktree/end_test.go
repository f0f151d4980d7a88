package worktree_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"world/confine"
	"world/confine/confinetest"
	"world/fault"
	"world/session/worktree"
)

const user = "ep"

// grown is a worktree of a hostile repository in which an episode has been at work.
func grown(t *testing.T) (hostile, worktree.Root, worktree.Worktree) {
	t.Helper()
	h, r := newHostile(t), reachableRoot(t)
	git(t, h.dir, "config", "diff.evil.textconv", h.touch("textconv")+"; cat")
	git(t, h.dir, "config", "diff.evil.command", h.touch("command"))
	if _, err := r.Add(t.Context(), worktree.Request{Repository: h.dir, Episode: "ep"}); err != nil {
		t.Fatal(err)
	}
	w, err := r.Find(t.Context(), "ep")
	if err != nil {
		t.Fatal(err)
	}
	write(t, w.Path, "note.txt", "hello\nagain\n")
	write(t, w.Path, "new dir/a\nb", "1\n2\n")
	write(t, w.Path, ".gitattributes", "*.txt diff=evil filter=evil\n")
	write(t, w.Path, "sub/bytes", "\x00\x01")
	// What killed calls left is nobody's work.
	write(t, w.Path, confine.Aside()+"/0", "left")
	write(t, w.Path, "sub/"+confine.Aside(), "left")
	if err := os.Remove(filepath.Join(w.Path, "note.late")); err != nil {
		t.Fatal(err)
	}
	return h, r, w
}

// reachableRoot is a root that users of episodes can walk to.
func reachableRoot(t *testing.T) worktree.Root {
	t.Helper()
	dir, err := os.MkdirTemp("", "worktrees-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return worktree.Root(dir)
}

func TestChangesAreToldAndNothingRuns(t *testing.T) {
	h, r, w := grown(t)
	for _, level := range []confine.Level{confine.Landlock, confine.Namespaces} {
		changes, err := w.Changes(t.Context(), confinetest.Jail(t, level), confine.OfWorktree(w.Path))
		if err != nil {
			t.Fatal(level, err)
		}
		want := []worktree.Change{
			{Path: ".gitattributes", Added: 1, Deleted: 2},
			{Path: "note.late", Deleted: 1, Gone: true},
			{Path: "note.txt", Added: 1},
			{Path: "new dir/a\nb", Added: 2, New: true},
			{Path: "sub/bytes", Added: -1, Deleted: -1, New: true},
		}
		if changes.More || !slices.Equal(changes.List, want) {
			t.Errorf("%s: got %+v, want %+v", level, changes, want)
		}
	}
	if ran := h.ran(t); len(ran) != 0 {
		t.Errorf("comparing ran %v", ran)
	}
	entries, err := os.ReadDir(string(r))
	if err != nil || len(entries) != 1 {
		t.Errorf("the workspace root holds %v, %v", entries, err)
	}
	// The control: git as a person uses it runs what the repository names.
	try(w.Path, "-c", "safe.directory=*", "diff")
	try(w.Path, "-c", "safe.directory=*", "status")
	if ran := h.ran(t); !ran["fsmonitor"] || !ran["command"] && !ran["textconv"] {
		t.Errorf("plain git ran %v: the test shows nothing", ran)
	}
}

func TestNoChanges(t *testing.T) {
	r := reachableRoot(t)
	w, err := r.Add(t.Context(), worktree.Request{Repository: newRepository(t), Episode: "ep", Detach: true})
	if err != nil {
		t.Fatal(err)
	}
	changes, err := w.Changes(t.Context(), confinetest.Jail(t, 0), confine.OfWorktree(w.Path))
	if err != nil || len(changes.List) != 0 || changes.More {
		t.Errorf("%+v, %v", changes, err)
	}
	if err := syscall.Mkfifo(filepath.Join(w.Path, "pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Changes(t.Context(), confinetest.Jail(t, 0), confine.OfWorktree(w.Path)); !fault.Is(err, fault.Failed) {
		t.Errorf("a pipe in the worktree: %v", err)
	}
}

// TestNewFilesHideNothing: what became of the commit's files is told, however many new
// ones there are and however long their names.
func TestNewFilesHideNothing(t *testing.T) {
	r := reachableRoot(t)
	w, err := r.Add(t.Context(), worktree.Request{Repository: newRepository(t), Episode: user})
	if err != nil {
		t.Fatal(err)
	}
	write(t, w.Path, "note.txt", "hello\nagain\n")
	deep := strings.TrimSuffix(strings.Repeat(strings.Repeat("d", 250)+"/", 6), "/")
	for i := range 2800 {
		write(t, w.Path, fmt.Sprintf("%s/%d", deep, i), "")
	}
	for at := w.Path + "/" + deep; at != w.Path; at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	changes, err := w.Changes(t.Context(), confinetest.Jail(t, 0), confine.OfWorktree(w.Path))
	if err != nil || !changes.More || !slices.Equal(changes.List, []worktree.Change{{Path: "note.txt", Added: 1}}) {
		t.Errorf("%+v, %v", changes, err)
	}
}

func TestDiscardLeavesNothingBehind(t *testing.T) {
	h, r, w := grown(t)
	write(t, w.Path, "deep/er/x", "x\n")
	outside := filepath.Join(t.TempDir(), "kept")
	write(t, filepath.Dir(outside), "kept", "kept\n")
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(w.Path, "link")); err != nil {
		t.Fatal(err)
	}
	if err := w.Discard(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Errorf("a file behind a link is gone: %v", err)
	}
	if entries, err := os.ReadDir(string(r)); err != nil || len(entries) != 0 {
		t.Errorf("the workspace root holds %v, %v", entries, err)
	}
	if ran := h.ran(t); len(ran) != 0 {
		t.Errorf("discarding ran %v", ran)
	}
	if list := git(t, h.dir, "worktree", "list"); strings.Contains(list, "ep") {
		t.Errorf("the repository still has it: %s", list)
	}
	if branches := git(t, h.dir, "branch", "--list"); strings.Contains(branches, "ep") {
		t.Errorf("the branch is still there: %s", branches)
	}
	if _, err := r.Find(t.Context(), "ep"); !fault.Is(err, fault.NotFound) {
		t.Errorf("it is found: %v", err)
	}
}

func TestDiscardKeepsABranchWithWorkOnIt(t *testing.T) {
	repository, r := newRepository(t), reachableRoot(t)
	if _, err := r.Add(t.Context(), worktree.Request{Repository: repository, Episode: "ep"}); err != nil {
		t.Fatal(err)
	}
	write(t, string(r.Path("ep")), "work", "work\n")
	git(t, r.Path("ep"), "-c", "safe.directory=*", "add", "work")
	git(t, r.Path("ep"), "-c", "safe.directory=*", "commit", "-q", "-m", "work")
	w, err := r.Find(t.Context(), "ep")
	if err != nil || w.Branch != "ep" {
		t.Fatalf("%+v, %v", w, err)
	}
	if err := w.Discard(t.Context()); err != nil {
		t.Fatal(err)
	}
	if at := git(t, repository, "rev-parse", "ep"); at != w.Commit {
		t.Errorf("the branch is at %s, was at %s", at, w.Commit)
	}
}

// What an episode can write must not make the operator's git look elsewhere.
func TestALyingWorktreeIsNotFound(t *testing.T) {
	for name, lie := range map[string]func(t *testing.T, r worktree.Root, path string){
		"no pointer":            func(t *testing.T, _ worktree.Root, path string) { os.Remove(filepath.Join(path, ".git")) },
		"another pointer":       func(t *testing.T, _ worktree.Root, path string) { point(t, path, newRepository(t)+"/.git/worktrees/x") },
		"the repository itself": func(t *testing.T, _ worktree.Root, path string) { point(t, path, newRepository(t)+"/.git") },
		"no repository":         func(t *testing.T, _ worktree.Root, path string) { point(t, path, "/nonexistent/worktrees/x") },
		"a link": func(t *testing.T, _ worktree.Root, path string) {
			if err := os.Symlink("/dev/null", filepath.Join(path, "n")); err != nil {
				t.Fatal(err)
			}
			os.Rename(filepath.Join(path, "n"), filepath.Join(path, ".git"))
		},
		"a repository of its own": func(t *testing.T, _ worktree.Root, path string) {
			git(t, path, "init", "-q", "fake")
			admin := filepath.Join(path, "fake/.git/worktrees/ep")
			write(t, admin, "gitdir", filepath.Join(path, ".git")+"\n")
			write(t, admin, "HEAD", "ref: refs/heads/main\n")
			point(t, path, admin)
		},
		"another's worktree": func(t *testing.T, r worktree.Root, path string) {
			other := newRepository(t)
			if _, err := r.Add(t.Context(), worktree.Request{Repository: other, Episode: "other"}); err != nil {
				t.Fatal(err)
			}
			point(t, path, other+"/.git/worktrees/other")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := reachableRoot(t)
			w, err := r.Add(t.Context(), worktree.Request{Repository: newRepository(t), Episode: "ep"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Find(t.Context(), "ep"); err != nil {
				t.Fatalf("the honest worktree is not found: %v", err)
			}
			lie(t, r, w.Path)
			if found, err := r.Find(t.Context(), "ep"); !fault.Is(err, fault.Failed) {
				t.Errorf("got %+v, %v", found, err)
			}
		})
	}
}

func point(t *testing.T, path, at string) {
	t.Helper()
	write(t, path, ".git", "gitdir: "+at+"\n")
}

func TestHandBackMakesItTheOperators(t *testing.T) {
	_, _, w := grown(t)
	if err := w.HandBack(); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(w.Path, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && confine.IsAside(d.Name()) {
			err = fmt.Errorf("%s is still there", path)
		}
		if err == nil && int(info.Sys().(*syscall.Stat_t).Uid) != os.Geteuid() {
			err = fmt.Errorf("%s belongs to %d", path, info.Sys().(*syscall.Stat_t).Uid)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
