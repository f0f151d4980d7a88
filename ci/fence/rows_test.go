package fence

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRowsOfRequests sends what an agent could send. Each act is refused, and the
// control is the same request for a name that it may use.
//
// Seen red, one guard taken out at a time: policytool follows absolute links (1, 2),
// asks the law only about the path as it is written (5, 6), writes into the file in
// place (16); the law leaves out the protected folders (9, in a folder; at the top
// the policy's rendered patterns are a second guard); the transition passes absolute
// paths (3) or unknown arguments (11) on.
func TestRowsOfRequests(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for link, target := range map[string]string{
		"to-secret": d.evil + "/secret", "to-new": d.outside + "/new", "up": "../ep-evil/secret", "inside": "greeting.txt",
		"fresh": "sub/fresh.txt", "alias": ".github", "plain": "sub",
	} {
		d.put(link, "-> "+target)
	}
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
		guard      string
	}{
		{1, "read through a link", "ailang-read", args("path", "to-secret"), "escapes the sandbox", args("path", "inside"), "tools/policytool locate: absolute links"},
		{1, "read through a relative link", "ailang-read", args("path", "up"), "escapes the sandbox", args("path", "inside"), "tools/policytool walk.up"},
		{2, "write through a link to nothing", "ailang-write", write("to-new"), "escapes the sandbox", write("fresh"), "tools/policytool locate: absolute links"},
		{3, "dots", "ailang-read", args("path", "../ep-evil/secret"), "no \\\"..\\\" segment", args("path", "sub/inner.txt"), "the transition's path_refusal"},
		{3, "dots within", "ailang-write", write("sub/../../ep-evil/new"), "no \\\"..\\\" segment", write("sub/new"), "the transition's path_refusal"},
		{3, "a root that begins alike", "ailang-read", args("path", d.evil+"/secret"), "must be relative", args("path", "sub/inner.txt"), "the transition's path_refusal"},
		{5, "a denied folder by another name", "ailang-write", write("alias/w.yml"), "fs_deny_write", write("plain/w.yml"), "tools/policytool locateUnless: where links lead"},
		{6, "edit into a denied name", "ailang-edit", args("path", "alias/w.yml", "old_text", "push", "new_text", "pull"), "fs_deny_write",
			args("path", "plain/inner.txt", "old_text", "inner", "new_text", "edited"), "tools/policytool locateUnless"},
		{9, "a denied folder at any depth", "ailang-write", write("sub/.github/w.yml"), "fs_deny_write", write("sub/w.yml"), "tools/policy Protection"},
		{9, "in any case", "ailang-write", write(".GitHub/w.yml"), "fs_deny_write", write("sub/w.yml"), "tools/policy fold"},
		{9, "that does not exist", "ailang-write", write(".claude/settings.json"), "fs_deny_write", write("sub/settings.json"), "tools/policy Protection"},
		{9, "a denied file", "ailang-write", write("sub/.gitattribute\u017f"), "fs_deny_write", write("sub/gitattributes"), "tools/policy fold"},
		{9, "a repository in a folder", "ailang-write", write("nested/.git/hooks"), ".git/ is read-only", write("sub/hooks"), "tools/policy Protection"},
		{11, "a flag", "ailang-write", args("path", "sub/flag", "content", "x", "sandbox", "off"), "unknown argument", args("path", "sub/flag", "content", "x"), "the transition's arguments_refusal"},
		{11, "another flag", "ailang-run", args("path", "none.py", "dangerouslyDisableSandbox", "true"), "unknown argument", args("path", "sub/../none.py"), "the transition's arguments_refusal"},
		{16, "a hard link", "ailang-write", write("hard"), "", write("sub/soft"), "tools/policytool replace: a new file in the place of the name"},
	} {
		t.Run(fmt.Sprintf("%d/%s", act.row, act.name), func(t *testing.T) {
			answer := d.call(act.tool, act.hostile)
			if act.says != "" && (!strings.Contains(answer, `"ok":false`) || !strings.Contains(answer, act.says)) {
				t.Errorf("%s let it through: %s", act.guard, answer)
			}
			if strings.Contains(answer, secret) || strings.Contains(answer, d.worktree+"/") {
				t.Errorf("%s: told %s", act.guard, answer)
			}
			if act.tool != "ailang-run" {
				if answer := d.call(act.tool, act.control); !strings.Contains(answer, `"ok":true`) {
					t.Errorf("control: %s", answer)
				}
			}
			d.untouched(t)
		})
	}
	if b, err := os.ReadFile(filepath.Join(d.worktree, "hard")); err != nil || string(b) != "written" {
		t.Errorf("the name of a hard link holds %q, %v", b, err)
	}
}
