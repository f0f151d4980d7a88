package fence

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"world/ci/guards"
)

// TestRowsOfRequests sends what an agent could send. Each act is refused, and the
// control is the same request for a name that it may use.
func TestRowsOfRequests(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for link, target := range map[string]string{
		"to-secret": d.evil + "/secret", "to-new": d.outside + "/new", "up": "../ep-evil/secret", "inside": "greeting.txt",
		"fresh": "sub/fresh.txt", "alias": ".github", "plain": "sub",
	} {
		d.put(link, "-> "+target)
	}
	d.put("one.py", "print(1)")
	d.must(os.Link(d.outside+"/canary", d.worktree+"/hard"))
	args := func(pairs ...string) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	write := func(path string) map[string]any { return args("path", path, "content", "written") }
	for _, act := range []struct {
		row        int
		name, tool string
		hostile    map[string]any
		says       string // in the refusal
		control    map[string]any
		guard      guards.Guard
	}{
		{1, "read through a link", "ailang-read", args("path", "to-secret"), "escapes the sandbox", args("path", "inside"), guards.LinkTargets},
		{1, "read through a relative link", "ailang-read", args("path", "up"), "escapes the sandbox", args("path", "inside"), guards.WayUp},
		{2, "write through a link to nothing", "ailang-write", write("to-new"), "escapes the sandbox", write("fresh"), guards.LinkTargets},
		{3, "dots", "ailang-read", args("path", "../ep-evil/secret"), "no \\\"..\\\" segment", args("path", "sub/inner.txt"), guards.PathRefusal},
		{3, "dots within", "ailang-write", write("sub/../../ep-evil/new"), "no \\\"..\\\" segment", write("sub/new"), guards.PathRefusal},
		{3, "a root that begins alike", "ailang-read", args("path", d.evil+"/secret"), "must be relative", args("path", "sub/inner.txt"), guards.PathRefusal},
		{5, "a denied folder by another name", "ailang-write", write("alias/w.yml"), "fs_deny_write", write("plain/w.yml"), guards.WhereLinksLead},
		{6, "edit into a denied name", "ailang-edit", args("path", "alias/w.yml", "old_text", "push", "new_text", "pull"), "fs_deny_write",
			args("path", "plain/inner.txt", "old_text", "inner", "new_text", "edited"), guards.WhereLinksLead},
		{9, "a denied folder at any depth", "ailang-write", write("sub/.github/w.yml"), "fs_deny_write", write("sub/w.yml"), guards.ProtectedNames},
		{9, "in any case", "ailang-write", write(".GitHub/w.yml"), "fs_deny_write", write("sub/w.yml"), guards.Fold},
		{9, "that does not exist", "ailang-write", write(".claude/settings.json"), "fs_deny_write", write("sub/settings.json"), guards.ProtectedAtTop},
		{9, "a denied file", "ailang-write", write("sub/.gitattribute\u017f"), "fs_deny_write", write("sub/gitattributes"), guards.Fold},
		{9, "a repository in a folder", "ailang-write", write("nested/.git/hooks"), ".git/ is read-only", write("sub/hooks"), guards.Repositories},
		{11, "a flag", "ailang-write", args("path", "sub/flag", "content", "x", "sandbox", "off"), "unknown argument", args("path", "sub/flag", "content", "x"), guards.Arguments},
		{11, "another flag", "ailang-run", args("path", "one.py", "dangerouslyDisableSandbox", "true"), "unknown argument", args("path", "one.py"), guards.ArgumentsOfRuns},
		{16, "a hard link", "ailang-write", write("hard"), "", write("sub/soft"), guards.NewFile},
	} {
		t.Run(fmt.Sprintf("%d/%s", act.row, act.name), func(t *testing.T) {
			act.guard.Stops(t)
			answer := d.call(act.tool, act.hostile)
			if act.says != "" && (!strings.Contains(answer, `"ok":false`) || !strings.Contains(answer, act.says)) {
				act.guard.LetThrough(t, answer)
			}
			if strings.Contains(answer, secret) || strings.Contains(answer, d.worktree+"/") {
				act.guard.Harmed(t, "told "+answer)
			}
			d.untouched(t, act.guard)
			if answer := d.call(act.tool, act.control); !strings.Contains(answer, `"ok":true`) && !strings.Contains(answer, `"kept":true`) {
				t.Errorf("control: %s", answer)
			}
		})
	}
	if b, err := os.ReadFile(filepath.Join(d.worktree, "hard")); err != nil || string(b) != "written" {
		t.Errorf("the name of a hard link holds %q, %v", b, err)
	}
}
