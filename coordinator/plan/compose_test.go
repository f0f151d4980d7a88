package plan_test

import (
	"errors"
	"strings"
	"testing"

	"world/canon"
	"world/coordinator/plan"
	"world/fault"
	"world/store"
	"world/store/record"
)

var (
	args, _ = canon.Parse([]byte(`{"b":1,"a":2}`), canon.Limits{})
	planRef = store.RefOf([]byte("plan"))
	recRef  = store.RefOf([]byte("record"))
)

func ended(status, output string) plan.Ended {
	e := plan.Ended{Effect: plan.Effect{ID: "e1", Triple: declared[0]}, EffectOutcome: record.EffectOutcome{ID: "e1", Status: status, Record: recRef}}
	switch status {
	case record.StatusOK:
		e.Output, e.Intent = []byte(output), "effect:ep:0"
	case record.StatusDenied:
		e.Denial, e.Message = "denied:budget", "denied:budget: spent"
	case record.StatusIndeterminate:
		e.Record, e.Intent, e.Message = "", "effect:ep:0", "unknown"
	}
	return e
}

// notJSON is what is said of an effect whose handler answered no JSON.
const notJSON = "coordinator: output: failed: output of effect e1 is not JSON: canon: parse: invalid: not a JSON value at byte 0"

func second[T any](_ T, err error) error { return err }

// says checks all that an error tells, "" for no error.
func says(t *testing.T, name string, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && err.Error() != want {
		t.Errorf("%s: %v, want %s", name, err, want)
	}
}

func TestPhaseInputs(t *testing.T) {
	if got, want := string(plan.PlanInput(args)), `{"args":{"a":2,"b":1},"phase":"plan"}`; got != want {
		t.Errorf("plan input %s", got)
	}
	for status, want := range map[string]string{
		record.StatusOK:     `{"effect":"Workspace.Write","id":"e1","output":{"x":[1,2]},"record":"` + string(recRef) + `","status":"ok"}`,
		record.StatusDenied: `{"effect":"Workspace.Write","id":"e1","output":null,"record":"` + string(recRef) + `","status":"denied"}`,
		record.StatusFailed: `{"effect":"Workspace.Write","id":"e1","output":null,"record":"` + string(recRef) + `","status":"failed"}`,
	} {
		got, err := plan.FinishInput(args, []plan.Ended{ended(status, ` {"x": [1, 2.0]} `)})
		if want := `{"args":{"a":2,"b":1},"phase":"finish","results":[` + want + `]}`; err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", status, got, err)
		}
	}
	says(t, "an output that is not JSON", second(plan.FinishInput(args, []plan.Ended{ended(record.StatusOK, "nope")})), notJSON)
}

// TestDeepOutputTravels checks that an output that is accepted still fits, with
// all its nesting, into the finish input around it.
func TestDeepOutputTravels(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	input, err := plan.FinishInput(args, []plan.Ended{ended(record.StatusOK, deep(48))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := canon.Parse(input, canon.Limits{}); err != nil {
		t.Errorf("the finish input: %v", err)
	}
	if _, err := plan.FinishInput(args, []plan.Ended{ended(record.StatusOK, deep(49))}); !fault.Is(err, fault.Failed) {
		t.Errorf("one deeper: %v", err)
	}
}

func TestBody(t *testing.T) {
	result, _ := canon.Parse([]byte(`{"refused":"no"}`), canon.Limits{})
	for name, test := range map[string]struct {
		p     plan.Plan
		ended []plan.Ended
		want  string
		says  string
	}{
		"zero effects":  {plan.Plan{Result: result}, nil, `{"refused":"no"}`, ""},
		"ok":            {plan.Plan{}, []plan.Ended{ended(record.StatusOK, `{"b":1,"a":1}`)}, `{"a":1,"b":1}`, ""},
		"no plan keys":  {plan.Plan{}, []plan.Ended{ended(record.StatusOK, `{"effects":1}`)}, `{"effects":1}`, ""},
		"no JSON":       {plan.Plan{}, []plan.Ended{ended(record.StatusOK, `nope`)}, "", notJSON},
		"no object":     {plan.Plan{}, []plan.Ended{ended(record.StatusOK, `3`)}, "", "coordinator: output: failed: output of effect e1: transition output is not a JSON object"},
		"world":         {plan.Plan{}, []plan.Ended{ended(record.StatusOK, `{"world":3}`)}, "", `coordinator: output: failed: output of effect e1: output carries the key "world"`},
		"denied":        {plan.Plan{}, []plan.Ended{ended(record.StatusDenied, "")}, "", "coordinator: effect: denied: denied:budget: spent"},
		"failed":        {plan.Plan{}, []plan.Ended{ended(record.StatusFailed, "")}, "", "coordinator: effect: failed"},
		"indeterminate": {plan.Plan{}, []plan.Ended{ended(record.StatusIndeterminate, "")}, "", "coordinator: effect: indeterminate: unknown"},
	} {
		body, err := plan.Body(test.p, test.ended)
		says(t, name, err, test.says)
		if err == nil && string(body.Bytes()) != test.want {
			t.Errorf("%s: %s", name, body.Bytes())
		}
	}
}

func TestWorldBlock(t *testing.T) {
	for want, test := range map[string]struct {
		ended []plan.Ended
		plan  store.Ref
	}{
		`{"effects":[],"plan":null}`: {nil, ""},
		`{"effects":[{"id":"e1","intent":"effect:ep:0","record":"` + string(recRef) + `","status":"ok"}],"plan":"` + string(planRef) + `"}`:       {[]plan.Ended{ended(record.StatusOK, "")}, planRef},
		`{"effects":[{"denial":"denied:budget","id":"e1","record":"` + string(recRef) + `","status":"denied"}],"plan":"` + string(planRef) + `"}`: {[]plan.Ended{ended(record.StatusDenied, "")}, planRef},
		`{"effects":[{"id":"e1","intent":"effect:ep:0","record":null,"status":"indeterminate"}],"plan":"` + string(planRef) + `"}`:                {[]plan.Ended{ended(record.StatusIndeterminate, "")}, planRef},
	} {
		if got := string(plan.World(test.ended, test.plan).Bytes()); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestConclude(t *testing.T) {
	world := plan.World(nil, planRef)
	block := `"world":{"effects":[],"plan":"` + string(planRef) + `"}`
	fill := func(n int) canon.Value {
		return canon.NewObject([]canon.Member{{Name: "p", Value: canon.NewString(strings.Repeat("x", n))}})
	}
	room := plan.MaxOutput - len(`{"p":"",`+block+`}`)
	for name, test := range map[string]struct {
		body    canon.Value
		err     error
		output  string
		failure string
	}{
		"body":        {args, nil, `{"a":2,"b":1,` + block + `}`, ""},
		"largest":     {fill(room), nil, `{"p":"` + strings.Repeat("x", room) + `",` + block + `}`, ""},
		"too large":   {fill(room + 1), nil, `{"error":{"kind":"limit","message":"transition output exceeds the output cap: 4194305 bytes; the limit is 4194304"},` + block + `}`, "limit"},
		"typed":       {args, fault.Wrap("op", fault.Denied, errors.New("/host"), "the \"item\""), `{"error":{"kind":"denied","message":"the \"item\""},` + block + `}`, "denied"},
		"internal":    {args, fault.New("op", fault.Internal, "/host/path"), `{"error":{"kind":"internal","message":"the call failed inside; its cause is in the daemon's log"},` + block + `}`, "internal"},
		"not typed":   {args, errors.New("/host/path"), `{"error":{"kind":"internal","message":"the call failed inside; its cause is in the daemon's log"},` + block + `}`, "internal"},
		"longest":     {args, fault.New("op", fault.Failed, "%s", strings.Repeat("x", 4096)), `{"error":{"kind":"failed","message":"` + strings.Repeat("x", 4096) + `"},` + block + `}`, "failed"},
		"longer":      {args, fault.New("op", fault.Failed, "%s", strings.Repeat("x", 4097)), `{"error":{"kind":"failed","message":"` + strings.Repeat("x", 4093) + `…"},` + block + `}`, "failed"},
		"long detail": {args, fault.New("op", fault.Failed, "%s", strings.Repeat("é", 4000)), `{"error":{"kind":"failed","message":"` + strings.Repeat("é", 2046) + `…"},` + block + `}`, "failed"},
	} {
		output, failure := plan.Conclude(test.body, test.err, world)
		if string(output) != test.output || failure != test.failure {
			t.Errorf("%s: %.300s, failure %q", name, output, failure)
		}
	}
}

func TestTransitionBodies(t *testing.T) {
	for name, read := range map[string]func([]byte) (canon.Value, error){"finish": plan.FinishBody, "pure": plan.PureBody} {
		for raw, want := range map[string]string{
			`{"a":1}`:     "",
			`[]`:          "coordinator: plan: plan law: effect plan violates L6: transition output is not a JSON object",
			`null`:        "coordinator: plan: plan law: effect plan violates L6: transition output is not a JSON object",
			`{"world":1}`: `coordinator: plan: plan law: effect plan violates L6: output carries the key "world"`,
			`nope`:        "coordinator: output: failed: transition output is not JSON: canon: parse: invalid: not a JSON value at byte 0",
		} {
			body, err := read([]byte(raw))
			says(t, name+" of "+raw, err, want)
			if err == nil && string(body.Bytes()) != raw {
				t.Errorf("%s of %s: %s", name, raw, body.Bytes())
			}
		}
		largest := `{"a":1}` + strings.Repeat(" ", plan.MaxAnswer-len(`{"a":1}`))
		says(t, name+" of the largest answer", second(read([]byte(largest))), "")
		says(t, name+" of more", second(read([]byte(largest+" "))), "coordinator: output: failed: transition output is not JSON: canon: parse: limit: 4194305 bytes; the limit is 4194304")
	}
	says(t, "finish with effects", second(plan.FinishBody([]byte(`{"effects":1}`))), `coordinator: plan: plan law: effect plan violates L6: finish output carries the key "effects"`)
	says(t, "a pure output with effects", second(plan.PureBody([]byte(`{"effects":1}`))), "")
}

// TestOutputsHaveOneLimit checks the largest output of a handler, of which more is no JSON.
func TestOutputsHaveOneLimit(t *testing.T) {
	largest := `{}` + strings.Repeat(" ", plan.MaxOutput-2)
	says(t, "the largest", second(plan.Body(plan.Plan{}, []plan.Ended{ended(record.StatusOK, largest)})), "")
	says(t, "one byte more", second(plan.Body(plan.Plan{}, []plan.Ended{ended(record.StatusOK, largest+" ")})),
		"coordinator: output: failed: output of effect e1 is not JSON: canon: parse: limit: 4194305 bytes; the limit is 4194304")
}

func TestFailuresOfPhases(t *testing.T) {
	slow := fault.New("op", fault.Limit, "too slow")
	says(t, "finish", plan.FinishFailure(slow, []plan.Ended{ended(record.StatusOK, ""), ended(record.StatusFailed, "")}),
		"coordinator: finish: limit: finish phase: too slow; effect e1 of this call ended ok and is recorded; effect e1 of this call ended failed and is recorded: op: limit: too slow")
	says(t, "finish without effects", plan.FinishFailure(slow, nil), "coordinator: finish: limit: finish phase: too slow: op: limit: too slow")
	says(t, "plan", plan.PhaseFailure(slow), "coordinator: phase: limit: transition execution failed: limit: too slow: op: limit: too slow")
	inside := fault.New("op", fault.Internal, "/host")
	if got := fault.Public(plan.FinishFailure(inside, nil)); strings.Contains(got, "/host") {
		t.Errorf("a finish phase that failed inside tells %s", got)
	}
}
