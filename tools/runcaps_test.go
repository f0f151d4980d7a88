package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"world/broker/law"
	"world/confine"
	"world/coordinator/plan"
	"world/store"
)

// TestRunCaps: capabilities choose the effect and the policy, and the operator's gate
// stands before both.
func TestRunCaps(t *testing.T) {
	d := newDesk(t, confine.Namespaces, "")
	d.put("env.star", "print(env('HOME'), env('none'))\n")
	d.put("p.star", "print(1)\n")
	d.put("f.star", "fs.write('x', 'y')\n")
	for payload, want := range map[string]string{
		`{"path":"env.star"}`:             "effect 'Env' requires capability",
		`{"path":"p.star","caps":["FS"]}`: "effect 'IO' requires capability",
		`{"path":"f.star","caps":["IO"]}`: "effect 'FS' requires capability, but none provided: name it in caps",
	} {
		if _, a := d.runs(AilangRun, payload); *a.ExitCode != 1 || !strings.Contains(a.Stderr, want) {
			t.Errorf("%s: %+v", payload, a)
		}
	}
	if _, a := d.runs(AilangRun, `{"path":"p.star","caps":["IO"]}`); a.Stdout != "1\n" || strings.Join(a.Policy.Caps, " ") != "IO" {
		t.Errorf("control: %+v", a)
	}
	for _, c := range []struct {
		effect  law.Effect
		payload string
		want    string
	}{
		{AilangRunEnv, `{"path":"env.star","caps":["Env","IO"]}`, `capability "Env" is not enabled by the operator (serve --run-allow-caps)`},
		{AilangRunNet, `{"path":"env.star","caps":["Net"]}`, `capability "Net" is not enabled by the operator (serve --run-allow-caps)`},
		{AilangRun, `{"path":"env.star","caps":["Env","IO"]}`, `broker: Ailang.Run refuses the payload: caps [Env IO] run as Ailang.RunEnv, not Ailang.Run`},
		{AilangRunNet, `{"path":"env.star"}`, `broker: Ailang.RunNet refuses the payload: caps [] run as Ailang.Run, not Ailang.RunNet`},
		{AilangRunEnv, `{"path":"a","caps":["Env","Net"]}`, `broker: Ailang.RunEnv refuses the payload: caps names both Env and Net`},
		{AilangRun, `{"path":"a","caps":["IO","FS"]}`, `broker: Ailang.Run refuses the payload: caps are not sorted and distinct`},
		{AilangRun, `{"path":"a","caps":["FS","FS"]}`, `broker: Ailang.Run refuses the payload: caps are not sorted and distinct`},
		{AilangRun, `{"path":"a","caps":["Root"]}`, `broker: Ailang.Run refuses the payload: caps names an unknown capability`},
		{AilangRun, `{"path":"../a"}`, `broker: Ailang.Run refuses the payload: path is not that of a file in the worktree`},
		{AilangRun, `{"path":"-a"}`, `broker: Ailang.Run refuses the payload: path is not that of a file in the worktree`},
		{AilangRun, `{}`, `broker: Ailang.Run refuses the payload: path is not that of a file in the worktree`},
		{AilangRun, `{"path":"a","op":"run"}`, `broker: Ailang.Run refuses the payload: unknown key "op"`},
		{AilangRun, `{"path":"a","argv":"x"}`, `broker: Ailang.Run refuses the payload: argv is of another type`},
		{AilangRun, `{"path":"a","argv":["\u0000"]}`, `broker: Ailang.Run refuses the payload: an argument holds NUL`},
		{AilangRun, `[]`, `broker: Ailang.Run refuses the payload: it is not a JSON object`},
	} {
		if r, _ := d.runs(c.effect, c.payload); r.Status != store.StatusFailed || r.Detail != plan.Lasting+c.want {
			t.Errorf("%s %s: %+v", c.effect, c.payload, r)
		}
	}
	d.handler.allow, d.handler.netAllow = []string{"Env", "Net"}, []string{"127.0.0.1:9"}
	if _, a := d.runs(AilangRunEnv, `{"path":"env.star","caps":["Env","IO"]}`); a.Stdout != "/tmp/home None\n" {
		t.Errorf("enabled: %+v", a)
	}
	if _, a := d.runs(AilangRunNet, `{"path":"env.star","caps":["Net"]}`); a.Admitted || !strings.Contains(a.Decision.Message, "no network") {
		t.Errorf("a program of ours with Net: %+v", a)
	}
	for name, mode := range map[string]string{"ep-1": "restricted", "ep-1.run-IO": "restricted", "ep-1.run-Env.IO": "trusted_host"} {
		raw, err := os.ReadFile(filepath.Join(d.base, "state", "policies", name+".toml"))
		if err != nil || !strings.Contains(string(raw), `security_mode = "`+mode+`"`) {
			t.Errorf("policy %s: %v\n%.200s", name, err, raw)
		}
	}
}

// TestRunFloor: below namespaces, no program runs, however low the handler's floor.
func TestRunFloor(t *testing.T) {
	d := newDesk(t, confine.Landlock, "")
	d.put("p.py", "open('ran','w')\n")
	r, _ := d.runs(AilangRun, `{"path":"p.py"}`)
	if r.Status != store.StatusFailed || !strings.HasPrefix(r.Detail, plan.Lasting) || !strings.Contains(r.Detail, "needs confinement level namespaces and the machine reaches landlock") || !strings.HasPrefix(d.get("ran"), "error") {
		t.Errorf("%+v", r)
	}
	for _, payload := range []string{`{"op":"ai_check","path":"p.py"}`} { // loading is not running
		if r := d.handle(AilangCheck, payload); r.Status != store.StatusSucceeded || member(r, "ok") != "true" {
			t.Errorf("control: %+v %s", r, r.Output)
		}
	}
}

// TestRunOfAnotherToolsProgram hands AILANG's binary the policy of its run, which it
// was asked about at start.
func TestRunOfAnotherToolsProgram(t *testing.T) {
	d := playing(t, func(o *Options) { o.AllowCaps, o.NetAllow = []string{"Env", "Net"}, []string{"127.0.0.1:9"} })
	d.play(map[string]step{"run": {Stdout: "theirs\n", Stderr: admits}})
	for caps, want := range map[string][]string{
		"Env": {`security_mode = "trusted_host"`, `allowed_caps = ["Env", "FS"]`, `".git/**"`},
		"Net": {`security_mode = "restricted"`, `allowed_caps = ["Net", "FS"]`, `net_allow = ["127.0.0.1:9"]`},
	} {
		r, a := d.runs(law.Effect("Ailang.Run"+caps), `{"path":"m.ail","caps":["`+caps+`"]}`)
		if r.Status != store.StatusSucceeded || a.Stdout != "theirs\n" || a.Tool != string(d.handler.Tool()) {
			t.Errorf("%s: %s %s", caps, r.Output, r.Detail)
		}
		raw, err := os.ReadFile(filepath.Join(d.base, "state", "policies", "ep-1.run-"+caps+".toml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range want {
			if !strings.Contains(string(raw), line) {
				t.Errorf("%s: no %s in\n%s", caps, line, raw)
			}
		}
	}
}
