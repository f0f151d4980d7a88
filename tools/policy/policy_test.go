package policy

import (
	"strings"
	"testing"

	"world/fault"
)

func TestRender(t *testing.T) {
	raw, err := For("/ws/ep1").Render()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`security_mode = "restricted"`, `allowed_caps = ["IO", "FS"]`, `fs_sandbox = "/ws/ep1"`,
		`timeout_ms = 8000`, `entry = "main"`, "[budgets]\nFS = 1000",
	} {
		if !strings.Contains(string(raw), line+"\n") {
			t.Errorf("no line %q in\n%s", line, raw)
		}
	}
	p, err := Parse(raw)
	if err != nil || p.Sandbox != "/ws/ep1" || p.MaxTransfer != DefaultTransfer {
		t.Errorf("%+v, %v", p, err)
	}
	// 196 spellings of directories and 2 classes of files, as the reference counts.
	if len(p.DenyWrite) != 198 {
		t.Errorf("%d patterns", len(p.DenyWrite))
	}
	if again, _ := For("/ws/ep1").Render(); string(again) != string(raw) || Digest(raw) != Digest(again) || len(Digest(raw)) != 64 {
		t.Error("two renderings differ")
	}
	for _, root := range []string{"", "/", "ws", "/ws/../x", "/ws/", "/a\"b", "/a\\b", "/a\nb", "/a\u200bb", "/a\xff"} {
		if _, err := For(root).Render(); !fault.Is(err, fault.Invalid) {
			t.Errorf("rendered root %q: %v", root, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	good := "allowed_caps = [\"FS\"]\nfs_sandbox = \"/ws\"\n"
	if p, err := Parse([]byte(good)); err != nil || p.SecurityMode != Restricted || p.TimeoutMillis != 5000 || p.Entry != "main" {
		t.Fatalf("control: %+v, %v", p, err)
	}
	tests := map[string]string{
		"unknown key":             good + "cli_allow = []\n",
		"key in other case":       good + "Entry = \"main\"\n",
		"unknown budget type":     good + "[budgets]\nFS = \"x\"\n",
		"unknown mode":            good + "security_mode = \"trusted\"\n",
		"unknown capability":      "allowed_caps = [\"FS\", \"Root\"]\nfs_sandbox = \"/ws\"\n",
		"capability twice":        "allowed_caps = [\"FS\", \"FS\"]\nfs_sandbox = \"/ws\"\n",
		"Env while restricted":    "allowed_caps = [\"FS\", \"Env\"]\nfs_sandbox = \"/ws\"\n",
		"Net without a list":      "allowed_caps = [\"FS\", \"Net\"]\nfs_sandbox = \"/ws\"\n",
		"a list without Net":      good + "net_allow = [\"127.0.0.1:1\"]\n",
		"more than a day":         good + "timeout_ms = 86400001\n",
		"no output":               good + "max_output_bytes = 0\n",
		"no source":               good + "max_source_bytes = 0\n",
		"no modules":              good + "max_module_graph_bytes = -1\n",
		"negative budget":         good + "[budgets]\nFS = -1\n",
		"budget of no capability": good + "[budgets]\nIO = 1\n",
		"no FS":                   "allowed_caps = [\"IO\"]\nfs_sandbox = \"/ws\"\n",
		"no sandbox":              "allowed_caps = [\"FS\"]\n",
		"relative sandbox":        "allowed_caps = [\"FS\"]\nfs_sandbox = \"ws\"\n",
		"no time":                 good + "timeout_ms = 0\n",
		"negative transfer":       good + "max_fs_transfer_bytes = -1\n",
		"pattern escapes":         good + "fs_deny_write = [\"../x\"]\n",
		"pattern is absolute":     good + "fs_deny_write = [\"/x\"]\n",
		"pattern is broken":       good + "fs_deny_write = [\"[\"]\n",
		"pattern is empty":        good + "fs_deny_write = [\"\"]\n",
		"no TOML":                 "fs_sandbox",
		"repeated":                good + good,
		"not UTF-8":               good + "# \xff\n",
		"too large":               good + strings.Repeat("# comment\n", MaxFile),
	}
	for name, text := range tests {
		if _, err := Parse([]byte(text)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestProtection(t *testing.T) {
	p := For("/ws")
	p.DenyWrite = append(p.DenyWrite, "vendor/**", "*.lock", "docs/secret.md")
	refused := []string{
		".git", ".git/config", ".GIT/config", ".Git", "sub/.git/hooks/pre-commit", "a/b/.gIt",
		".g\u0130t/x", ".git\u200c/x", ".gi\ufe0ft", ".git.", ".git ", ".git. .", "git~1/config", "GIT~1", ".git::$INDEX_ALLOCATION/x", ".git:x",
		".github/workflows/x.yml", ".GITHUB", "sub/.github/x", ".claude/settings.json", ".CLAUDE/x", "deep/.pi/x", ".pi",
		".ailang/cache", ".AiLang", ".gitmodules", "sub/.gitmodules", ".GitModules", ".gitmodule\u017f", ".gitattributes", "x/.GITATTRIBUTES",
		"vendor", "vendor/x/y", "VENDOR/x", "go.lock", "sub/Cargo.LOCK", "docs/secret.md", "DOCS/secret.MD",
	}
	for _, path := range refused {
		if p.Protection(path) == "" {
			t.Errorf("%q may be written", path)
		}
	}
	admitted := []string{
		"x", "git/x", "a.git", "x.github", ".gitignore", "sub/.gitignore", ".gitkeep", "github/x", ".clauderc", "pi/x",
		"gitmodules", ".gitmodules.bak", ".gitmodules/x/y", "vendors/x", "sub/vendor/x", "lock", "docs/secret.md.txt", "git~2/x", "ü.md",
	}
	for _, path := range admitted {
		if why := p.Protection(path); why != "" {
			t.Errorf("%q may not be written: %s", path, why)
		}
	}
	texts := map[string]string{
		".GIT/x":     ".git/ is read-only to the lane's tools",
		"a/.Pi/x":    `matches fs_deny_write ".pi/**" — read-only under this policy`,
		"vendor/x":   `matches fs_deny_write "vendor/**" — read-only under this policy`,
		"Cargo.lock": `matches fs_deny_write "*.lock" — read-only under this policy`,
	}
	for path, want := range texts {
		if got := p.Protection(path); got != want {
			t.Errorf("%q: %q", path, got)
		}
	}
}

// TestProtectionOfSpellings: whatever spelling the rendered file lists is
// protected by name here too, so that the two sides agree.
func TestProtectionOfSpellings(t *testing.T) {
	var bare Policy
	for _, name := range append(protectedDirs, protectedFiles...) {
		for _, spelling := range spellings(name) {
			if bare.Protection(spelling) == "" || bare.Protection("sub/"+spelling) == "" {
				t.Errorf("%q is not protected", spelling)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	raw, err := For("/ws/ep1").Render()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte("fs_sandbox = \"/ws\"\n[budgets]\nFS = 1\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := Parse(raw)
		if err != nil {
			return
		}
		again, err := p.Render()
		if err != nil {
			t.Fatalf("a policy that was read cannot be rendered: %v", err)
		}
		if _, err := Parse(again); err != nil {
			t.Fatalf("a rendered policy cannot be read: %v\n%s", err, again)
		}
	})
}
