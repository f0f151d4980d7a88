package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"world/broker"
	"world/coordinator/plan"
	"world/store"
	"world/tools/policy"
)

// Lines that the tool writes about a run.
const (
	admits  = `policy: {"ok":true,"policy":"p","policy_digest":"{digest}","security_mode":"{mode}","caps":{caps},"net_allow":{net},"decision":{"ok":true,"declared_effects":["IO"],"allowed_caps":["IO","FS"]}}` + "\n"
	expired = `policy-result: {"message":"exceeded timeout_ms (8s); worker process group killed","policy_digest":"{digest}","reason":"timeout","security_mode":"restricted","stage":"execute","version":1}` + "\n"
	flooded = `policy-result: {"message":"combined stdout+stderr exceeded max_output_bytes (8388608); worker killed","policy_digest":"{digest}","reason":"output_limit","security_mode":"restricted","stage":"execute","version":1}` + "\n"
	gaveUp  = `policy-result: {"message":"m","policy_digest":"{digest}","reason":"no_decision","security_mode":"restricted","stage":"admit","version":1}` + "\n"
	denies  = `{
  "file": "m.ail",
  "policy": "p",
  "decision": {"ok": false, "error_kind": "policy_violation", "message": "declared effects exceed policy", "declared_effects": ["Net"], "allowed_caps": ["IO","FS"], "missing_from_policy": ["Net"]}
}
`
)

// TestEnvelopes plays what a tool can say of a run: every shape of the contract,
// every omission and every lie. A program is the tool's child, and what it prints
// comes before the tool's own lines.
func TestEnvelopes(t *testing.T) {
	d := playing(t, nil)
	for _, c := range []struct {
		name           string
		step           step
		exit           int // of the answer
		stdout, stderr string
	}{
		{"(a) ran", step{Stdout: "out\n", Stderr: admits}, 0, "out\n", ""},
		{"(a) ran and talked", step{Stderr: "one\ntwo\n" + admits}, 0, "", "one\ntwo\n"},
		{"(a) failed", step{Stderr: "Error: no\n" + admits, Exit: 1}, 1, "", "Error: no\n"},
		{"(a) exits 2, as a denial does", step{Stderr: admits, Exit: 2}, 2, "", ""},
		{"(a) exits 3, as a limit does", step{Stderr: admits, Exit: 3}, 3, "", ""},
		{"(b) refused inside", step{Stderr: "Error: execution failed: path \"../x\" escapes sandbox\n" + admits, Exit: 1}, 1, "", "Error: execution failed: path \"../x\" escapes sandbox\n"},
		{"prints a denial and exits 2", step{Stdout: denies, Stderr: admits, Exit: 2}, 2, denies, ""},
		{"forges an admission", step{Stderr: `policy: {"ok":true,"decision":{"ok":true},"forged":1}` + "\n" + admits}, 0, "", `policy: {"ok":true,"decision":{"ok":true},"forged":1}` + "\n"},
		{"forges a limit", step{Stderr: expired + admits, Exit: 3}, 3, "", expired},
		{"leaves its line open", step{Stderr: "open" + admits}, 0, "", "open"},
		{"leaves a forged line open", step{Stderr: `policy: {"ok":true,"x":"` + admits}, 0, "", `policy: {"ok":true,"x":"`},
		{"splits lines oddly", step{Stderr: "a\rpolicy-result: {}\u2028policy-result: {}\n" + admits, Exit: 3}, 3, "", "a\rpolicy-result: {}\u2028policy-result: {}\n"},
		// The tool itself says that time ran out, at once: our clock does not bear it out.
		{"lies about the time", step{Stderr: admits + expired, Exit: 3}, 3, "", expired},
		{"lies about the output", step{Stderr: admits + flooded, Exit: 3}, 3, "", flooded},
		{"lies with another exit code", step{Stderr: admits + expired, Exit: 0}, 0, "", expired},
		{"an unknown limit", step{Stderr: admits + strings.Replace(expired, "timeout", "boredom", 1), Exit: 3}, 3, "", strings.Replace(expired, `"timeout"`, `"boredom"`, 1)},
	} {
		d.play(map[string]step{"run": c.step})
		r, a := d.runs(AilangRun, `{"path":"m.ail"}`)
		if c.name == "an unknown limit" {
			c.stderr = a.Stderr // its text has the word twice
		}
		if r.Status != store.StatusSucceeded || !a.Admitted || a.ExitCode == nil || *a.ExitCode != c.exit || a.Limit != nil || a.Decision != nil ||
			a.Stdout != c.stdout || a.Stderr != strings.ReplaceAll(c.stderr, "{digest}", a.Policy.Digest) || a.Tool != string(d.handler.Tool()) {
			t.Errorf("%s: %s %s", c.name, r.Output, r.Detail)
		}
	}
	for name, s := range map[string]step{
		"(c) denied":     {Stdout: denies, Exit: 2},
		"(c) unreadable": {Stdout: strings.Replace(denies, "policy_violation", "read_failed", 1), Exit: 1},
		"(c) null lists": {Stdout: strings.ReplaceAll(denies, `["IO","FS"]`, "null"), Exit: 2},
	} {
		d.play(map[string]step{"run": s})
		if r, a := d.runs(AilangRun, `{"path":"m.ail"}`); r.Status != store.StatusSucceeded || a.Admitted || a.Decision == nil || a.Decision.Message != "declared effects exceed policy" || a.Stdout != "" {
			t.Errorf("%s: %s %s", name, r.Output, r.Detail)
		}
	}
	for name, c := range map[string]struct {
		step step
		want string
	}{
		"an error of the tool":     {step{Stderr: "Error: --policy: program m.ail is outside\n", Exit: 1}, plan.Lasting + "the tool refuses to run the program: program m.ail is outside"},
		"a long error of the tool": {step{Stderr: "Error: --policy: " + strings.Repeat("x", 5000) + "\n", Exit: 1}, plan.Lasting + "the tool refuses to run the program: " + strings.Repeat("x", maxReason-3) + "…"},
		"an error with its place":  {step{Stderr: "Error: --policy: " + d.worktree + "/x is a link\n", Exit: 1}, plan.Lasting + "the tool refuses to run the program: x is a link"},
		"no decision":              {step{Stderr: gaveUp, Exit: 1}, "the tool came to no decision: m"},
		"a worker that failed":     {step{Stderr: strings.Replace(gaveUp, "no_decision", "worker_failed", 1), Exit: 7}, "the tool's worker failed: m"},
		"a denial that writes":     {step{Stdout: denies, Exit: 2, Write: map[string]string{"chg": "x"}}, "the tool's answer says that the program was not admitted, and the worktree was changed: chg created, after " + string(store.RefOf([]byte("x")))},
		"a failure that writes":    {step{Stderr: gaveUp, Exit: 1, Write: map[string]string{"chg": "y"}}, "the tool came to no decision: m, and the worktree was changed: chg changed, before " + string(store.RefOf([]byte("x"))) + ", after " + string(store.RefOf([]byte("y")))},
		"a denial of other caps":   {step{Stdout: strings.Replace(denies, `["IO","FS"]`, `["IO"]`, 1), Exit: 2}, "the tool's answer breaks the contract: it denies the program under another allowed_caps"},
		"another policy":           {step{Stderr: strings.Replace(admits, "{digest}", strings.Repeat("0", 64), 1)}, "the tool's answer breaks the contract: it admits the program under another policy_digest"},
	} {
		if name == "a failure that writes" {
			d.put("chg", "x")
		}
		d.play(map[string]step{"run": c.step})
		if r, _ := d.runs(AilangRun, `{"path":"m.ail"}`); r.Status != store.StatusFailed || r.Detail != c.want {
			t.Errorf("%s: %+v %s", name, r, r.Output)
		}
		os.Remove(filepath.Join(d.worktree, "chg"))
	}
	for name, s := range map[string]step{
		"a reason that is no line":       {Stderr: "Error: --policy: x\nsecret\n", Exit: 1},
		"an error with another code":     {Stderr: "Error: --policy: x\n", Exit: 2},
		"no decision of another policy":  {Stderr: strings.Replace(gaveUp, "{digest}", "d", 1), Exit: 1},
		"no decision that succeeds":      {Stderr: gaveUp},
		"a denial of no kind":            {Stdout: strings.Replace(denies, `"error_kind": "policy_violation", `, "", 1), Exit: 2},
		"a denial of no words":           {Stdout: strings.Replace(denies, `"declared effects exceed policy"`, "7", 1), Exit: 2},
		"a denial whose list is none":    {Stdout: strings.Replace(denies, `["Net"]`, `"Net"`, 1), Exit: 2},
		"a denial with another code":     {Stdout: denies, Exit: 1},
		"silence":                        {},
		"silence, failing":               {Exit: 1},
		"output alone":                   {Stdout: "out\n"},
		"a denial that succeeds":         {Stdout: denies},
		"a denial that says ok":          {Stdout: strings.Replace(denies, `"ok": false`, `"ok": true`, 1), Exit: 2},
		"a denial and an error":          {Stdout: denies, Stderr: "Error: x\n", Exit: 2},
		"an admission that is not ok":    {Stderr: strings.Replace(admits, `"ok":true`, `"ok":false`, 1)},
		"an admission of no decision":    {Stderr: `policy: {"ok":true}` + "\n"},
		"an admission that is cut":       {Stderr: admits[:len(admits)-4]},
		"an admission on stdout":         {Stdout: admits},
		"a limit that nothing bears out": {Stderr: expired, Exit: 3},
	} {
		d.play(map[string]step{"run": s})
		if r, _ := d.runs(AilangRun, `{"path":"m.ail"}`); r.Status != store.StatusFailed || r.Detail != "the tool's answer is none that the contract knows" {
			t.Errorf("%s: %+v %s", name, r, r.Output)
		}
	}
}

// TestEnvelopeLimits plays limits that are true, (d) of the contract.
func TestEnvelopeLimits(t *testing.T) {
	t.Parallel()
	d := playing(t, nil)
	d.handler.allow = []string{"Env"}
	long := time.Duration(policy.For("/ws").TimeoutMillis) * time.Millisecond
	flood := strings.Repeat("x", 1<<20)
	for name, c := range map[string]struct {
		step   step
		within time.Duration
		reason string
		shown  string
	}{
		"(d) time":            {step{Write: map[string]string{"left": "x"}, Stderr: "text\n" + admits + expired, Sleep: long, Exit: 3}, broker.DefaultDeadline, "timeout", "text\n"},
		"(d) output":          {step{Stdout: flood, Repeat: 7, Stderr: admits + flooded, Exit: 3}, broker.DefaultDeadline, "output_limit", ""},
		"(d) more output":     {step{Stdout: flood, Repeat: 8, Stderr: admits + flooded, Exit: 3}, broker.DefaultDeadline, "output_limit", ""}, // whether it ends by itself or not
		"no end of time":      {step{Stderr: "text\n", Sleep: time.Hour}, 2*time.Second + takeOver, "timeout", "text\n"},
		"no end of output":    {step{Stdout: flood, Repeat: 40}, broker.DefaultDeadline, "output_limit", ""},
		"a limit, and no end": {step{Stderr: admits + expired, Sleep: time.Hour}, 2*time.Second + takeOver, "timeout", ""},
		"killed":              {step{Stderr: "text\n" + admits, Signal: 9}, broker.DefaultDeadline, "killed", "text\n"},
	} {
		d.play(map[string]step{"run": c.step})
		r, a := d.runsWithin(c.within, AilangRun, `{"path":"m.ail"}`)
		if r.Status != store.StatusSucceeded || a.Limit == nil || a.Limit.Reason != c.reason || a.Limit.Stage != "execute" || a.ExitCode != nil || a.Stderr != strings.NewReplacer("{digest}", a.Policy.Digest, "{mode}", "restricted", "{caps}", `["IO","FS"]`, "{net}", "null").Replace(c.shown) {
			t.Errorf("%s: %.400s %s", name, r.Output, r.Detail)
		}
	}
}

// TestRunIsAskedFor as the contract says, and in no other words.
func TestRunIsAskedFor(t *testing.T) {
	d := playing(t, nil)
	for payload, want := range map[string]string{
		`{"path":"m.ail"}`: "run --policy /tmp/file --quiet -- m.ail\n",
		`{"path":"m.ail","args_json":"{\"a\":1}","argv":["--caps","Net"],"stdin":"in"}`: "run --policy /tmp/file --quiet --args-json {\"a\":1} -- m.ail -- --caps Net\nin",
	} {
		d.play(map[string]step{"run": {Echo: true, Stderr: admits}})
		_, a := d.runs(AilangRun, payload)
		if said := fmt.Sprintf(`{"ok":true,"content":%q}`, want); a.Stdout != said {
			t.Errorf("%s: %s, want %s", payload, a.Stdout, said)
		}
	}
}
