package tools

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"world/canon"
	"world/confine"
	"world/store"
	"world/tools/policy"
)

// TestJudgeRun: what the jail says of a run's end decides how its effect ends, before
// any word of the tool.
func TestJudgeRun(t *testing.T) {
	h := playing(t, nil).handler
	p := policy.For("/ws/ep-1")
	own := admitting(p, "digest")
	done := confine.Result{Started: true, Stderr: []byte(own), Applied: confine.WasApplied, Elapsed: time.Second}
	for name, c := range map[string]struct {
		change func(*confine.Result)
		status store.Status
		limit  string
		detail string
	}{
		"done":                            {func(r *confine.Result) {}, store.StatusSucceeded, "", ""},
		"taken over in part":              {func(r *confine.Result) { r.Applied = confine.MaybeApplied }, store.StatusIndeterminate, "", "may have been taken over in part"},
		"taken over in part, and cut off": {func(r *confine.Result) { r.Applied, r.Bound = confine.MaybeApplied, confine.WallBound }, store.StatusIndeterminate, "", "in part"},
		"refused":                         {func(r *confine.Result) { r.Applied, r.Refused = confine.NotApplied, "/ws/ep-1/x: protected" }, store.StatusSucceeded, "changes_refused", ""},
		"not judged in time": {func(r *confine.Result) {
			r.Applied, r.Refused, r.Unjudged = confine.NotApplied, "no time", true
		}, store.StatusSucceeded, "not_taken_over", ""},
		"refused, and no envelope": {func(r *confine.Result) { r.Applied, r.Refused, r.Stderr = confine.NotApplied, "x: protected", nil }, store.StatusFailed, "", "none that the contract knows"},
		"not started":              {func(r *confine.Result) { *r = confine.Result{Bound: confine.WallBound} }, store.StatusFailed, "", "was not started"},
		"cancelled":                {func(r *confine.Result) { r.Applied, r.Bound = confine.NotApplied, confine.CallerBound }, store.StatusFailed, "", "nothing that the program changed was kept"},
		"time":                     {func(r *confine.Result) { r.Applied, r.Bound = confine.NotApplied, confine.WallBound }, store.StatusSucceeded, "timeout", ""},
		"output":                   {func(r *confine.Result) { r.Applied, r.Bound = confine.NotApplied, confine.OutputBound }, store.StatusSucceeded, "output_limit", ""},
		"processor":                {func(r *confine.Result) { r.Applied, r.Bound = confine.NotApplied, confine.CPUBound }, store.StatusSucceeded, "cpu_limit", ""},
		"memory":                   {func(r *confine.Result) { r.Applied, r.Bound = confine.NotApplied, confine.MemoryBound }, store.StatusSucceeded, "memory_limit", ""},
		"file size":                {func(r *confine.Result) { r.Applied, r.Bound = confine.NotApplied, confine.SizeBound }, store.StatusSucceeded, "file_size_limit", ""},
		"space":                    {func(r *confine.Result) { r.Applied, r.Bound = confine.NotApplied, confine.SpaceBound }, store.StatusSucceeded, "worktree_space_limit", ""},
		"files":                    {func(r *confine.Result) { r.Applied, r.Bound = confine.NotApplied, confine.FilesBound }, store.StatusSucceeded, "worktree_files_limit", ""},
		"scratch files":            {func(r *confine.Result) { r.Applied, r.Bound = confine.NotApplied, confine.ScratchBound }, store.StatusSucceeded, "scratch_files_limit", ""},
		"died":                     {func(r *confine.Result) { r.Applied, r.Bound = confine.NotApplied, confine.Died }, store.StatusSucceeded, "killed", ""},
		"no envelope":              {func(r *confine.Result) { r.Stderr = nil }, store.StatusFailed, "", "none that the contract knows"},
		"no envelope, but changes": {func(r *confine.Result) {
			r.Stderr, r.Changes = nil, []byte(`{"changes":[{"path":"x","kind":"created"}]}`)
		},
			store.StatusFailed, "", "none that the contract knows, and the worktree was changed: x created"},
		"another policy":          {admitsOther(own, `"policy_digest":"digest"`, `"policy_digest":"other"`), store.StatusFailed, "", "breaks the contract: it admits the program under another policy_digest"},
		"no policy":               {admitsOther(own, `"policy_digest":"digest",`, ``), store.StatusFailed, "", "another policy_digest"},
		"another mode":            {admitsOther(own, `restricted`, `trusted_host`), store.StatusFailed, "", "another security_mode"},
		"more capabilities":       {admitsOther(own, `"caps":["IO","FS"]`, `"caps":["IO","FS","Net","Process"]`), store.StatusFailed, "", "another caps"},
		"fewer capabilities":      {admitsOther(own, `"caps":["IO","FS"]`, `"caps":["IO"]`), store.StatusFailed, "", "another caps"},
		"capabilities as one":     {admitsOther(own, `"caps":["IO","FS"]`, `"caps":["FS IO"]`), store.StatusFailed, "", "another caps"},
		"capabilities of no kind": {admitsOther(own, `"caps":["IO","FS"]`, `"caps":["IO","FS",5]`), store.StatusFailed, "", "another caps"},
		"no capabilities":         {admitsOther(own, `"caps":["IO","FS"],`, ``), store.StatusFailed, "", "another caps"},
		"in another order":        {admitsOther(own, `"caps":["IO","FS"]`, `"caps":["FS","IO"]`), store.StatusSucceeded, "", ""},
		"a network":               {admitsOther(own, `"net_allow":[]`, `"net_allow":["127.0.0.1:1"]`), store.StatusFailed, "", "another net_allow"},
		"no network":              {admitsOther(own, `"net_allow":[],`, `"net_allow":null,"process_allow":[],"timeout_ms":8000,"fs_sandbox":"/ws/ep-1",`), store.StatusSucceeded, "", ""},
		"processes":               {admitsOther(own, `"caps"`, `"process_allow":["git"],"caps"`), store.StatusFailed, "", "another process_allow"},
		"another place":           {admitsOther(own, `"caps"`, `"fs_sandbox":"/","caps"`), store.StatusFailed, "", "another fs_sandbox"},
		"more time":               {admitsOther(own, `"caps"`, `"timeout_ms":9000,"caps"`), store.StatusFailed, "", "another timeout_ms"},
		"the program's lie after the truth": {func(r *confine.Result) {
			r.Stderr = []byte(own + strings.Replace(own, `"digest"`, `"other"`, 1))
		}, store.StatusSucceeded, "", ""},
	} {
		r := done
		c.change(&r)
		got := h.judgeRun(order{path: "m.ail"}, p, r, "digest")
		var a ranAnswer
		if got.Output != nil {
			if err := json.Unmarshal(got.Output, &a); err != nil {
				t.Fatal(err)
			}
		}
		limit := ""
		if a.Limit != nil {
			limit = a.Limit.Reason
		}
		ended := r.Bound == confine.Unbounded // by itself, and has an exit code
		if a.Limit != nil && ((a.ExitCode != nil) != ended || (a.Limit.Stage == "apply") != ended) {
			t.Errorf("%s: %s", name, got.Output)
		}
		if got.Status != c.status || limit != c.limit || !strings.Contains(got.Detail, c.detail) || (got.Detail == "") != (c.detail == "") ||
			c.status == store.StatusSucceeded && a.Kept != (c.limit == "") {
			t.Errorf("%s: %+v %s", name, got, got.Output)
		}
	}
	// A program that was not admitted has changed nothing, or it is told what.
	for changes, want := range map[string]store.Status{`{"changes":[],"omitted":0}`: store.StatusSucceeded, `{"changes":[{"path":"x","kind":"created","after":"sha256:1"},{"path":"y","kind":"changed","before":"sha256:2","after":"sha256:3"}],"omitted":4}`: store.StatusFailed} {
		r := done
		r.Stdout, r.Stderr, r.Exit, r.Changes = []byte(denies), nil, 2, []byte(changes)
		if got := h.judgeRun(order{path: "m.ail"}, p, r, "digest"); got.Status != want || (want == store.StatusFailed) != strings.HasSuffix(got.Detail, "was not admitted, and the worktree was changed: x created, after sha256:1; y changed, before sha256:2, after sha256:3; and 4 more") {
			t.Errorf("a denial with %s: %+v %s", changes, got, got.Output)
		}
	}
	// The tool's own line goes when it is the last one and names the policy.
	for text, want := range map[string]string{
		"said\n" + own: "said\n", "open" + own: "open", own + "said\n": own + "said\n", "said\n" + admits: "said\n" + admits, "said\n": "said\n",
	} {
		r := done
		r.Stderr, r.Applied, r.Bound = []byte(text), confine.NotApplied, confine.SpaceBound
		var a ranAnswer
		if err := json.Unmarshal(h.judgeRun(order{path: "m.ail"}, p, r, "digest").Output, &a); err != nil || a.Stderr != want {
			t.Errorf("%q: %q, %v", text, a.Stderr, err)
		}
	}
	// Output that is no text, and more changes than are listed.
	r := done
	r.Stdout, r.Dropped, r.Changes = []byte("a\xffb /ws/ep-1/x"), 7, []byte(`{"changes":[{"path":"x","kind":"created"}],"omitted":3}`)
	got := string(h.judgeRun(order{path: "m.ail"}, p, r, "digest").Output)
	for _, want := range []string{`"stdout":"a` + "\ufffd" + `b x"`, `"left_out_bytes":7`, `"replaced_bytes":1`, `"changes":[{"kind":"created","path":"x"}]`, `"omitted":3`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

// admitting is the line with which a tool admits a program under a policy.
func admitting(p policy.Policy, digest string) string {
	return strings.NewReplacer("{digest}", digest, "{mode}", p.SecurityMode, "{caps}", string(stringList(p.AllowedCaps).Bytes()), "{net}", string(stringList(p.NetAllow).Bytes())).Replace(admits)
}

// admitsOther lets a tool admit with something else in its line.
func admitsOther(own, old, new string) func(*confine.Result) {
	return func(r *confine.Result) { r.Stderr = []byte(strings.Replace(own, old, new, 1)) }
}

// TestManyChangesAreToldInBounds: a refused answer tells of them, and not of all.
func TestManyChangesAreToldInBounds(t *testing.T) {
	one := `{"path":"` + strings.Repeat("ü", 1000) + `","kind":"changed","before":"sha256:` + strings.Repeat("0", 64) + `","after":"sha256:` + strings.Repeat("0", 64) + `"},`
	got := alsoChanged(confine.Result{Changes: []byte(`{"changes":[` + strings.TrimSuffix(strings.Repeat(one, 200), ",") + `],"omitted":5}`)})
	if len(got) > 3500 || !strings.HasSuffix(got, "; and 197 more") || strings.Count(got, "sha256:") != 2*toldChanges {
		t.Errorf("%d bytes: %s", len(got), got)
	}
	for changes, want := range map[string]string{"": "", `{"changes":[],"omitted":0}`: "", "{": ", and the worktree may have been changed"} {
		if got := alsoChanged(confine.Result{Changes: []byte(changes)}); got != want {
			t.Errorf("%q: %q", changes, got)
		}
	}
}

// FuzzEnvelope: whatever a tool prints, an answer is JSON of one shape, no limit is
// told that nothing bears out, and no line of the program's is lost.
func FuzzEnvelope(f *testing.F) {
	p := policy.For("/ws/ep-1")
	admits := admitting(p, "digest")
	for _, text := range []string{admits, expired + admits, admits + expired, "open" + admits, denies, `policy: {"ok":true`, "a\n\npolicy: {}\n", gaveUp} {
		f.Add([]byte("out"), []byte(text), 3)
		f.Add([]byte(text), []byte(""), 2)
	}
	f.Fuzz(func(t *testing.T, stdout, stderr []byte, exit int) {
		r := confine.Result{Started: true, Exit: exit, Stdout: stdout, Stderr: stderr, Applied: confine.WasApplied, Elapsed: time.Second}
		e := enveloped(p, r)
		was := e
		if problem := e.read(p, "digest", r); problem != "" {
			return
		}
		if e.limit != "" && len(stdout)+len(stderr) < int(maxOutput(p)) {
			t.Fatalf("limit %s", e.limit)
		}
		if e.admitted == (e.decision.Kind() == canon.Object) {
			t.Fatalf("admitted %t with decision %s", e.admitted, e.decision.Bytes())
		}
		if e.admitted && (e.stdout != was.stdout || len(e.stderr) > len(was.stderr) || strings.Count(was.stderr, "\n") > strings.Count(e.stderr, "\n")+2) {
			t.Fatalf("%q became %q", was.stderr, e.stderr)
		}
		if _, err := canon.Parse(e.answer(p, r, "digest", "ref"), canon.Limits{Bytes: 64 << 20}); err != nil {
			t.Fatal(err)
		}
	})
}
