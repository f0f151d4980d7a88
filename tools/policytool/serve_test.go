package policytool

import (
	"bytes"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"world/tools/policy"
)

func TestServeWithoutPolicy(t *testing.T) {
	b := newBench(t)
	serve := func(args ...string) (int, string, string) {
		var stdout, stderr bytes.Buffer
		code := Serve(args, strings.NewReader(`{"op":"summary"}`), &stdout, &stderr)
		return code, stdout.String(), stderr.String()
	}
	if code, out, errs := serve(); code != 1 || out != "" || !strings.HasPrefix(errs, "policy-tool: no policy — pass --policy or export AILANG_AGENT_POLICY") {
		t.Errorf("%d %q %q", code, out, errs)
	}
	if code, _, _ := serve("--nonsense"); code != 2 {
		t.Errorf("an unknown flag: %d", code)
	}
	if code, _, _ := serve("--policy", b.policy, "rest"); code != 2 {
		t.Errorf("an argument: %d", code)
	}
	if code, out, _ := serve("--policy", b.policy+"x"); code != 0 || !strings.Contains(out, `"refused": "policy: `) {
		t.Errorf("an absent policy: %d %q", code, out)
	}
	b.put("../bad.toml", "nonsense = 1")
	if code, out, _ := serve("--policy", filepath.Join(b.root, "../bad.toml")); code != 0 || !strings.Contains(out, "unknown fields") {
		t.Errorf("a bad policy: %d %q", code, out)
	}
	trusted, err := policy.ForRun(b.root, []string{"Env"}, nil).Render()
	if err != nil {
		t.Fatal(err)
	}
	b.put("../trusted.toml", string(trusted))
	if code, out, _ := serve("--policy", filepath.Join(b.root, "../trusted.toml")); code != 0 || !strings.Contains(out, `"security_mode": "trusted_host"`) {
		t.Errorf("the summary of a run's policy: %d %q", code, out)
	}
	var stdout bytes.Buffer
	if Serve([]string{"--policy", filepath.Join(b.root, "../trusted.toml")}, strings.NewReader(`{"op":"read","path":"x"}`), &stdout, &stdout) != 0 ||
		!strings.Contains(stdout.String(), `policy: security_mode \"trusted_host\" is for runs alone`) {
		t.Errorf("an operation under a run's policy: %q", stdout.String())
	}
	stdout.Reset() // what a process that waits is tried with is refused, and nothing is left of it
	if code := Serve([]string{"--policy", b.policy}, bytes.NewReader(Rehearsal()), &stdout, &stdout); code != 0 || !strings.Contains(stdout.String(), `"refused": "read `) {
		t.Errorf("the rehearsal: %d %q", code, stdout.String())
	}
	t.Setenv(policyVariable, b.policy)
	if code, out, _ := serve(); code != 0 || !strings.HasPrefix(out, "{\n  \"ok\": true,\n") || !strings.HasSuffix(out, "}\n") {
		t.Errorf("policy by environment: %d %q", code, out)
	}
	b.put("../request.json", `{"op":"read","path":"none"}`)
	if code, out, _ := serve("--request-file", filepath.Join(b.root, "../request.json")); code != 0 || !strings.Contains(out, "read none") {
		t.Errorf("request file: %d %q", code, out)
	}
	if code, _, _ := serve("--request-file", filepath.Join(b.root, "../none.json")); code != 1 {
		t.Errorf("no request file: %d", code)
	}
	pipe := filepath.Join(b.root, "../pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, _ := serve("--request-file", pipe); code != 1 {
		t.Errorf("a pipe that nobody writes: %d", code)
	}
	if code, out, _ := serve("--policy", pipe); code != 0 || !strings.Contains(out, "the policy file cannot be read") {
		t.Errorf("a pipe as policy: %d %q", code, out)
	}
}
