package tools

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"world/confine"
	"world/confine/confinetest"
	"world/fault"
)

// TestCheck runs tool binaries that answer the first question, and that do not.
func TestCheck(t *testing.T) {
	const summary = `{"ok":true,"summary":{"security_mode":"restricted","fs_sandbox":"'$PWD'","policy_digest":"'$digest'","caps":'$caps',"net_allow":[],"cli":[],"ops":["read","write","edit","ai_check","builtins_list","examples_search","summary"]}}`
	digest := `digest=$(sha256sum < "$3" | cut -d" " -f1); caps=$(sed -n "s/allowed_caps = //p" "$3"); `
	say := func(answer string) string { return digest + "echo '" + answer + "'\n" }
	for _, c := range []struct{ name, script, says string }{
		{"a good summary", say(summary), ""},
		{"a good summary after some time", "sleep 0.2\n" + say(summary), ""},
		{"silence", "exit 0\n", "is not one JSON object"},
		{"no response", "exit 1\n", "ended with exit code 1"},
		{"a hidden program", "exec /no/such/program\n", "ended with exit code 127, as a script does when the program that it starts cannot be run or is hidden"},
		{"a word", "echo hello\n", "is not one JSON object"},
		{"a refusal", say(`{"ok":false,"refused":"no policy in '$PWD'/x"}`), "it refused: no policy in x"},
		{"not ok", say(strings.Replace(summary, "true", "false", 1)), "does not say why it is not ok"},
		{"no summary", say(`{"ok":true}`), "security_mode"},
		{"another mode", say(strings.Replace(summary, "restricted", "trusted_host", 1)), "security_mode"},
		{"another worktree", say(strings.Replace(summary, "'$PWD'", "/", 1)), "fs_sandbox"},
		{"another policy", say(strings.Replace(summary, "'$digest'", "x", 1)), "policy_digest"},
		{"no cli", say(strings.Replace(summary, `"cli":[],`, "", 1)), "cli"},
		{"other capabilities", say(strings.Replace(summary, "'$caps'", `["IO","FS","Net"]`, 1)), "caps"},
		{"an address", say(strings.Replace(summary, `"net_allow":[]`, `"net_allow":["127.0.0.1:80"]`, 1)), "net_allow"},
		{"no edit", say(strings.Replace(summary, `,"edit"`, "", 1)), "ops"},
		{"a crash", "kill -9 $$\n", "exit code"},
	} {
		d := newDesk(t, confine.Namespaces, c.script)
		err := d.handler.Check(t.Context())
		if (c.says == "") != (err == nil) || err != nil && (!fault.Is(err, fault.Unavailable) || !strings.Contains(fault.Detail(err), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
		if err != nil && strings.Contains(fault.Detail(err), d.base) {
			t.Errorf("%s: a path in %v", c.name, err)
		}
		if left, err := filepath.Glob(filepath.Join(d.base, "root", ".*")); err != nil || len(left) != 0 {
			t.Errorf("%s: left %v, %v", c.name, left, err)
		}
	}
}

// TestCheckOfRealPrograms: a copy of world-tool passes, named from where the process
// stands; a file that is no program fails.
func TestCheckOfRealPrograms(t *testing.T) {
	program, err := io.ReadAll(confinetest.Image(t, confinetest.WorldTool).Reader())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"tool": string(program) + "\x00", "passwd": "root:x:0:0::/root:/bin/sh\n"} {
		d := newDesk(t, confine.Landlock, "")
		tool := filepath.Join(d.base, name)
		if err := os.WriteFile(tool, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Chdir(d.base)
		handler, err := NewHandler(Options{Jail: d.handler.jail, Tool: name, StateDir: filepath.Join(d.base, "state"), WorkspaceRoot: filepath.Join(d.base, "root")})
		if err != nil {
			t.Fatal(err)
		}
		if err := handler.Check(t.Context()); (err == nil) != (name == "tool") {
			t.Errorf("%s: %v", name, err)
		}
		if err := handler.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
