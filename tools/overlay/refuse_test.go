package overlay_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"world/confine"
	"world/confine/confinetest"
	"world/tools/overlay"
)

// TestRefuses: one thing that must not be refuses all, what it stands beside too.
func TestRefuses(t *testing.T) {
	tests := []struct{ name, script, says string }{
		{"protected file", "echo x > .git", ".git: .git/ is read-only"},
		{"protected file deleted", "rm .git", ".git: .git/ is read-only"},
		{"protected file moved away", "mv .git git", ".git: .git/ is read-only"},
		{"protected file by its mode", "chmod 755 .git", ".git: .git/ is read-only"},
		{"protected folder that is new", "mkdir .claude", ".claude: matches fs_deny_write"},
		{"below a protected folder", "echo x > .github/new", ".github/new: matches fs_deny_write"},
		{"protected folder deleted", "rm -r .github", ".github: matches fs_deny_write"},
		{"other case", "mkdir deep/.GitHub", "deep/.GitHub: matches fs_deny_write"},
		{"folded letters", "echo x > .gitattribute\u017f", ": matches fs_deny_write"},
		{"upper case below", "mkdir deep/.GIT", "deep/.GIT: .git/ is read-only"},
		{"new repository in a folder", "mkdir -p new/.git/hooks; echo x > new/.git/hooks/post-checkout", "new/.git: .git/ is read-only"},
		{"hook of a nested repository", "mkdir nested/.git/hooks; echo x > nested/.git/hooks/pre-commit", "nested/.git/hooks: .git/ is read-only"},
		{"parent of a protected name deleted", "rm -r nested", "nested/.git: .git/ is read-only"},
		{"parent of a protected name replaced", "rm -r nested; mkdir nested; echo x > nested/file", "nested/.git: .git/ is read-only"},
		{"parent of a protected name turned into a file", "rm -r nested; echo x > nested", "nested/.git: .git/ is read-only"},
		{"parent of a protected name moved", "mv nested other", "nested/.git: .git/ is read-only"},
		{"renamed into a protected name", "echo x > f; mv f .gitmodules", ".gitmodules: matches fs_deny_write"},
		{"folder renamed into a protected name", "mkdir f; echo x > f/hooks; mv f .ailang", ".ailang: matches fs_deny_write"},
		{"hard link of a protected name", "ln b.txt .gitattributes", ".gitattributes: matches fs_deny_write"},
		{"link as a protected name", "ln -s a.txt .pi", ".pi: matches fs_deny_write"},
		{"through a link to a protected name", "ln -s .github g; echo x > g/new", ".github/new: matches fs_deny_write"},
		{"link to a protected name", "ln -s nested/.git/config c", "c: is a link to a protected name"},
		{"link by an absolute path", "ln -s /etc/passwd l", "l: is a link that leads out"},
		{"link by an absolute path inside", "ln -s $PWD/a.txt l", "l: is a link that leads out"},
		{"link upwards", "ln -s ../secret l", "l: is a link that leads out"},
		{"link upwards from below", "ln -s ../../../secret deep/er/l", "deep/er/l: is a link that leads out"},
		{"link up after down", "ln -s . deep/er/top; ln -s deep/er/top/../../.. l", "l: is a link that leads out"},
		{"pipe", "mkfifo p", "p: is neither"},
		{"device", "mknod n c 1 3 2>/dev/null || mkfifo n", "n: is neither"},
		{"socket", "python3 -c 'import socket; socket.socketpair(); s=socket.socket(socket.AF_UNIX); s.bind(\"s\")' 2>/dev/null || mkfifo s", "s: is neither"},
		{"name that is not text", `: > "$(printf '\377')"`, `"\xff": is a name that is not UTF-8`},
		{"name below that is not text", `: > "deep/$(printf 'a\300"\033')"`, `"deep/a\xc0\"\x1b": is a name that is not UTF-8`},
		{"name of what lies aside", "mkdir .world-tool-00112233445566778899aabbccddeeff.tmp", ".world-tool-00112233445566778899aabbccddeeff.tmp: is a name for what"},
		{"such a name below", "echo x > deep/.World-Tool-00112233445566778899AABBCCDDEEFF.tmp", "deep/.World-Tool-00112233445566778899AABBCCDDEEFF.tmp: is a name for what"},
		{"long path", "d=ddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd; i=0; " +
			"while [ $i -lt 45 ]; do mkdir $d; cd -P $d 2>/dev/null || exit 1; i=$((i+1)); done", "a path over 4096 bytes"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			was := s.tree()
			got := s.shell("echo x > beside; rm a.txt; " + test.script)
			if got.Applied != confine.NotApplied || got.Exit != 0 || got.Bound != confine.Unbounded || !strings.Contains(got.Refused, test.says) {
				t.Errorf("applied %q, exit %d %q, refused %q; %s", got.Applied, got.Exit, got.Bound, got.Refused, got.Stderr)
			}
			if strings.Contains(got.Refused, s.worktree) {
				t.Errorf("the refusal names a place of the host: %q", got.Refused)
			}
			if diff := difference(was, s.tree()); len(diff) > 0 {
				t.Errorf("the worktree has changed: %v", diff)
			}
		})
	}
}

// call makes a call of the C library in a script and says its error.
func call(expression string) string {
	return "python3 -c 'import ctypes, sys; c = ctypes.CDLL(None, use_errno=True); sys.exit(c." + expression + " and f\"errno {ctypes.get_errno()}\")'"
}

// TestInside: what the overlay and the fence themselves refuse to a program, which
// goes on and is applied.
func TestInside(t *testing.T) {
	tests := []struct{ name, script, says string }{
		{"moving a folder that was there", `python3 -c 'import os; os.rename("deep", "other")'`, "Invalid cross-device link"},
		{"a mount", call(`mount(b"none", b"deep", b"tmpfs", 0, 0)`), "errno 1"},
		{"taking the overlay off", call(`umount2(b".", 2)`), "errno 1"},
		{"capabilities", "grep -E 'Cap(Inh|Prm|Eff|Amb):.*[1-9a-f]' /proc/self/status", ""},
		{"the mark of a deletion", "mknod w c 0 0", "ermi"},
		{"the mark of a new folder", `python3 -c 'import os; os.setxattr("deep", "user.overlay.opaque", b"y")'; test ! -e deep/d.txt`, ""},
		{"the first stage's files", "ls /proc/1/fd /proc/1/root /proc/1/cwd", "ermission denied"},
		{"the layer's own place", "ls -a /tmp/.layer", "No such file"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			was := s.tree()
			got := s.shell("if " + test.script + "; then echo got through; fi; echo -n x > after")
			through := strings.Contains(string(got.Stdout), "got through")
			if got.Applied != confine.WasApplied || through || !strings.Contains(string(got.Stderr), test.says) {
				t.Errorf("applied %q, exit %d %q, refused %q: %s %s", got.Applied, got.Exit, got.Bound, got.Refused, got.Stdout, got.Stderr)
			}
			if diff := strings.Join(difference(was, s.tree()), " "); diff != "+after=x" {
				t.Errorf("worktree: %s", diff)
			}
		})
	}
}

// TestToolsCacheStaysInTheLayer: what AILANG's binary leaves beside a program does
// not reach the worktree and spoils nothing; anything else there is protected.
func TestToolsCacheStaysInTheLayer(t *testing.T) {
	s := newSite(t)
	was := s.tree()
	r := s.shell("mkdir -p deep/.ailang/cache/x .ailang/cache; echo y > deep/.ailang/cache/x/y; echo z > .ailang/cache/z; echo kept > kept.txt")
	if r.Applied != confine.WasApplied || r.Refused != "" {
		t.Fatalf("%+v %s", r, r.Stderr)
	}
	was["kept.txt"] = "kept\n"
	if now := s.tree(); !maps.Equal(now, was) || strings.Contains(string(r.Changes), ".ailang") {
		t.Errorf("%v, %s", now, r.Changes)
	}
	for _, script := range []string{
		"mkdir -p .ailang/cache; echo x > .ailang/config", "mkdir .ailang", "mkdir -p .ailang/Cache", "mkdir -p .AILANG/cache", "echo x > .ailang",
		"mkdir .ailang; ln -s ../.git .ailang/other",
	} {
		if r := s.shell(script + "; echo no > no.txt"); r.Applied != confine.NotApplied || !strings.Contains(strings.ToLower(r.Refused), ".ailang") {
			t.Errorf("%s: %+v", script, r)
		}
	}
	if now := s.tree(); !maps.Equal(now, was) {
		t.Errorf("%v", now)
	}
}

// TestReport: changes beyond what a report lists are counted.
func TestReport(t *testing.T) {
	s := newSite(t)
	got := s.shell(fmt.Sprintf("i=0; while [ $i -lt %d ]; do : > f$i; i=$((i+1)); done", overlay.MaxListed+5))
	var report overlay.Report
	if err := json.Unmarshal(got.Changes, &report); err != nil || len(report.Changes) != overlay.MaxListed || report.Omitted != 5 {
		t.Errorf("%d listed, %d omitted, %v; %s", len(report.Changes), report.Omitted, err, got.Refused)
	}
	for _, c := range report.Changes {
		if c.After == "" || c.Before != "" {
			t.Errorf("%+v", c)
		}
	}
}

// TestLeftovers: what a killed run left goes with the next, and nothing like it.
func TestLeftovers(t *testing.T) {
	s := newSite(t)
	aside := confine.Aside()
	for _, name := range []string{aside, aside + "/1", aside + "0", "." + aside, ".world-tool-0.tmp"} {
		if err := os.Mkdir(s.worktree+"/"+name, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := confine.HandOver(s.worktree+"/"+name, s.user); err != nil {
			t.Fatal(err)
		}
	}
	was := s.tree()
	got := s.shell("echo -n x > new")
	if diff := strings.Join(difference(was, s.tree()), " "); diff != "+new=x -"+aside+"/ -"+aside+"/1/" {
		t.Errorf("worktree: %s; %q", diff, got.Refused)
	}
	// Names that are nearly such a name are anybody's, and what a killed write left
	// may go with its folder, or alone.
	s.file("deep/" + aside)
	for _, script := range []string{"mkdir .world-tool-1.tmp " + aside + "1", "rm deep/" + aside} {
		if got := s.shell(script); got.Applied != confine.WasApplied {
			t.Errorf("%s: %q", script, got.Refused)
		}
	}
	s.file("deep/er/" + aside)
	if got := s.shell("rm -r deep"); got.Applied != confine.WasApplied || strings.Contains(string(got.Changes), aside) {
		t.Errorf("%q, %s", got.Refused, got.Changes)
	}
}

// TestOrdinaryUser runs these tests again as an ordinary user.
func TestOrdinaryUser(t *testing.T) {
	confinetest.AsOrdinaryUser(t, "^Test(Applies|Refuses|Inside|Report|Leftovers|Owner|Sizes|Deep)", confinetest.WorldTool)
}
