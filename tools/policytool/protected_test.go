package policytool

import (
	"strings"
	"testing"
)

// TestProtected: protected names stay as they are, reached however, existing or not.
func TestProtected(t *testing.T) {
	b := newBench(t)
	b.put(".git/config", "[core]")
	b.put("sub/.git", "gitdir: elsewhere")
	b.put("plain/x", "")
	b.link(".git/config", "innocent")
	b.link(".git", "also-innocent")
	b.link("plain/../.git", "roundabout")
	for _, path := range []string{
		".git/config", ".GIT/config", "sub/.git", "sub/.GIT", "innocent", "also-innocent/config", "also-innocent/new", "roundabout/config",
		"plain/../.git/config", "./.git/config", ".git/./config", ".git//config", ".claude/settings.json", ".github/workflows/ci.yml",
		".gitmodules", "plain/.gitattributes", ".GitModules", "plain/.pi/x", ".ailang/x", ".git\u200d/config", "git~1/config",
	} {
		if r := b.write(path, "written"); r.OK || !strings.Contains(r.Refused, "read-only") {
			t.Errorf("write %q: %+v", path, r)
		}
		if r := b.edit(path, "core", "written"); r.OK || !strings.Contains(r.Refused, "read-only") {
			t.Errorf("edit %q: %+v", path, r)
		}
	}
	if b.get(".git/config") != "[core]" || b.get("sub/.git") != "gitdir: elsewhere" {
		t.Error("a protected file was written")
	}
	b.put(".claude/settings.json", "{}")
	if r := b.read(".claude/settings.json"); !r.OK || r.Content != "{}" {
		t.Errorf("reads of other protected names are not affected: %+v", r)
	}
	if r := b.write(".gitignore", "x"); !r.OK {
		t.Errorf("control: %+v", r)
	}
}

// TestGitIsClosed: a .git says where on the host a repository lies, so it is not
// read either, whatever leads to it.
func TestGitIsClosed(t *testing.T) {
	b := newBench(t)
	b.put(".git", "gitdir: /home/operator/repo/.git/worktrees/ep-1\n")
	b.put("sub/.git", "gitdir: /home/operator/repo/.git/modules/sub\n")
	b.put("sub/deep/.GIT/worktrees/x/gitdir", "/home/operator/x/.git\n")
	b.put(".gitignore", "plain")
	b.link(".git", "innocent")
	b.link("innocent", "sub/innocent")
	b.link("deep/.GIT", "sub/dir")
	b.link(".gitignore", "control")
	for _, path := range []string{
		".git", "./.git", ".GIT", ".git/", ".git/config", "sub/.git", "sub/../.git", "sub/.giT", "sub/deep/.GIT/worktrees/x/gitdir",
		"innocent", "sub/dir/worktrees/x/gitdir", ".git\u200d", "git~1", ".git.", "none/.git/x",
	} {
		if r := b.read(path); r.OK || r.Content != "" || r.Refused != "read "+path+": .git is closed to the lane's tools: it names places of the host" {
			t.Errorf("%q: %+v", path, r)
		}
	}
	for _, path := range []string{".gitignore", "control"} {
		if r := b.read(path); !r.OK || r.Content != "plain" {
			t.Errorf("control %q: %+v", path, r)
		}
	}
}
