package coordinator_test

import (
	"context"
	"strings"
	"testing"

	"world/broker"
	"world/canon"
	"world/coordinator/coordtest"
	"world/fault"
	"world/store"
	"world/store/record"
)

const zeroEffects = `{"plan":"world/effect-plan/v1","finish":false,"effects":[],"result":{"ok":false,"refused":"no"}}`

// end is one way for a call to end, and what has to be recorded of it.
type end struct {
	name       string
	transition store.TransitionID
	args       string
	answer     func(broker.Job) broker.Result // of the handler, nil for success

	failed   bool
	kind     fault.Kind
	denial   string
	status   string // of the effect, "" when none was decided
	intents  int64
	planless bool
	output   string // part of the output
	message  string // part of the message
}

var ends = []end{
	{name: "the handler's output is the answer", transition: coordtest.Act, args: `{"do":"x"}`,
		status: "ok", intents: 1, output: `{"done":{"do":"x"},"world":{"effects":[{"id":"e1","intent":"effect:ep:0"`},
	{name: "the finish phase makes the answer", transition: coordtest.Act, args: `{"do":"x","finish":{"fine":true}}`,
		status: "ok", intents: 1, output: `{"fine":true,"world":`},
	{name: "the finish phase sees the result", transition: coordtest.Act, args: `{"do":"x","after":1}`,
		status: "ok", intents: 1, output: `"output":{"done":{"do":"x"}},"record":"sha256:`},
	{name: "a refusal has no effect", transition: coordtest.Act, args: `{"plan":` + zeroEffects + `}`,
		output: `{"ok":false,"refused":"no","world":{"effects":[],"plan":"sha256:`},
	{name: "a pure transition", transition: coordtest.Echo, args: `{"b":1,"a":2}`, planless: true,
		output: `{"echo":{"a":2,"b":1},"world":{"effects":[],"plan":null}}`},

	{name: "denied by effect name", transition: coordtest.Act, args: `{"effect":"Workspace.Read"}`,
		failed: true, kind: fault.Denied, denial: "denied:effect-name", status: "denied",
		message: "a session with a grant Workspace.Read=worktree:N", output: `"denial":"denied:effect-name"`},
	{name: "denied by scope", transition: coordtest.Far, args: `{"scope":"elsewhere"}`,
		failed: true, kind: fault.Denied, denial: "denied:scope", status: "denied",
		message: "the grant Workspace.Write=worktree:2 is for another scope"},
	{name: "denied by budget", transition: coordtest.Act, args: `{"cost":3}`,
		failed: true, kind: fault.Denied, denial: "denied:budget", status: "denied",
		message: "the grant Workspace.Write=worktree:2 has 2 left in episode ep and the call costs 3"},
	{name: "the finish phase of a denied effect", transition: coordtest.Act, args: `{"cost":3,"after":1}`,
		failed: true, kind: fault.Denied, denial: "denied:budget", status: "denied",
		message: "has 2 left", output: `"output":null,"record":"sha256:`},

	{name: "the handler fails", transition: coordtest.Act, args: `{}`,
		answer: func(broker.Job) broker.Result { return coordtest.Fail("the disk is full") },
		failed: true, kind: fault.Failed, status: "failed", intents: 1, message: "Workspace.Write failed: the disk is full"},
	{name: "the handler cannot tell", transition: coordtest.Act, args: `{"after":1}`,
		answer: func(broker.Job) broker.Result { return coordtest.Lose("it was killed") },
		failed: true, kind: fault.Indeterminate, status: "indeterminate", intents: 1,
		message: "Do not repeat it blindly", output: `"record":null,"status":"indeterminate"`},
	{name: "the handler answers no JSON", transition: coordtest.Act, args: `{}`,
		answer: func(broker.Job) broker.Result { return coordtest.Succeed("fine") },
		failed: true, kind: fault.Failed, status: "ok", intents: 1, message: "output of effect e1 is not JSON"},
	{name: "the handler answers no object", transition: coordtest.Act, args: `{}`,
		answer: func(broker.Job) broker.Result { return coordtest.Succeed("[]") },
		failed: true, kind: fault.Failed, status: "ok", intents: 1, message: "output of effect e1: transition output is not a JSON object"},
	{name: "the handler answers a world", transition: coordtest.Act, args: `{}`,
		answer: func(broker.Job) broker.Result { return coordtest.Succeed(`{"world":{}}`) },
		failed: true, kind: fault.Failed, status: "ok", intents: 1, message: `output of effect e1: output carries the key "world"`},

	{name: "the finish phase breaks", transition: coordtest.Act, args: `{"broken":1}`,
		failed: true, kind: fault.Failed, status: "ok", intents: 1,
		message: "finish phase: transition execution failed: failed: the program failed; effect e1 of this call ended ok and is recorded"},
	{name: "the finish phase answers a world", transition: coordtest.Act, args: `{"finish":{"world":1}}`,
		failed: true, kind: fault.PlanLaw, status: "ok", intents: 1, message: `violates L6: output carries the key "world"`},
	{name: "the finish phase answers effects", transition: coordtest.Act, args: `{"finish":{"effects":1}}`,
		failed: true, kind: fault.PlanLaw, status: "ok", intents: 1, message: `violates L6: finish output carries the key "effects"`},

	{name: "the plan is not JSON", transition: coordtest.Act, args: `{"raw":"nope"}`, planless: true,
		failed: true, kind: fault.PlanLaw, message: "effect plan violates shape: not well-formed JSON"},
	{name: "the plan is undeclared", transition: coordtest.Act, args: `{"cost":2}`, planless: true,
		failed: true, kind: fault.PlanLaw, message: "effect plan violates L3: effects[0] (Workspace.Write, worktree, 2) is not a declared effect"},
	{name: "the program fails", transition: coordtest.Echo, args: `{"broken":1}`, planless: true,
		failed: true, kind: fault.Failed, message: "transition execution failed: failed: the program failed"},
	{name: "the program follows no convention", transition: coordtest.Mainless, args: `{}`, planless: true,
		failed: true, kind: fault.Invalid, message: "no main from one string to one string"},
	{name: "a pure transition answers a world", transition: coordtest.Echo, args: `{"raw":"{\"world\":1}"}`, planless: true,
		failed: true, kind: fault.PlanLaw, message: `L6: output carries the key "world"`},
	{name: "no handler", transition: coordtest.Orphan, args: `{"effect":"Nobody.Does"}`, planless: true,
		failed: true, kind: fault.Unsupported,
		message: `transition "orphan" declares effects with no registered handler [Nobody.Does]; effectful invocation is unavailable`},
}

// TestEnds makes every way for a call to end happen, and checks the reply, the
// log entry, the record, the spend, the resend and the replay of each.
func TestEnds(t *testing.T) {
	for _, e := range ends {
		t.Run(e.name, func(t *testing.T) {
			hand := &coordtest.Hand{Answer: e.answer}
			w := world(t, hand, nil)
			live := writer(w, 2)
			before := head(t, w)

			reply := w.Must(live, e.transition, "task", e.args)
			if reply.Failed != e.failed || e.failed && reply.Kind != e.kind || reply.Denial != e.denial || reply.Replayed {
				t.Errorf("reply failed %v kind %v denial %q replayed %v", reply.Failed, reply.Kind, reply.Denial, reply.Replayed)
			}
			if !strings.Contains(string(reply.Output), e.output) {
				t.Errorf("output %s does not hold %s", reply.Output, e.output)
			}
			if !strings.Contains(reply.Message, e.message) || e.failed != (reply.Message != "") {
				t.Errorf("message %q does not hold %q", reply.Message, e.message)
			}
			if reply.Entry.Index != before+1 || reply.Entry.WrittenBy != "coordinator:mcp" {
				t.Errorf("entry %d by %s after head %d", reply.Entry.Index, reply.Entry.WrittenBy, before)
			}

			call := recorded(t, w, reply.Entry)
			if string(call.Output) != string(reply.Output) {
				t.Errorf("the entry's output is %s", call.Output)
			}
			if wanted := e.failed && !(strings.Contains(e.args, `"after"`) && e.status == "denied"); (call.Record.Failure != "") != wanted {
				t.Errorf("record says failure %q", call.Record.Failure)
			}
			if status(call) != e.status || (call.Plan == nil) != e.planless {
				t.Errorf("recorded status %q, plan %s", status(call), call.Plan)
			}
			total, intents := spent(t, w, "ep")
			if intents != e.intents || total != e.intents || len(hand.Jobs()) != int(e.intents) {
				t.Errorf("%d intents, %d spent, %d handled; want %d of each", intents, total, len(hand.Jobs()), e.intents)
			}

			again := w.Must(live, e.transition, "task", e.args)
			if !again.Replayed || string(again.Output) != string(reply.Output) || again.Message != reply.Message ||
				again.Failed != reply.Failed || again.Kind != reply.Kind || again.Denial != reply.Denial || again.Entry != reply.Entry {
				t.Errorf("resent: %+v, first: %+v", again, reply)
			}
			if head(t, w) != before+1 || len(hand.Jobs()) != int(e.intents) {
				t.Error("a resend ran or wrote something")
			}
			counts := replays(t, w)
			if e.kind == fault.Unsupported {
				if counts.Unreplayable["handlers"] != 1 {
					t.Errorf("replay counts %+v", counts)
				}
			} else if counts.Same != 1 {
				t.Errorf("replay counts %+v", counts)
			}
		})
	}
}

// TestEveryOutputHoldsTheWorld checks the one promise of all output schemas.
func TestEveryOutputHoldsTheWorld(t *testing.T) {
	for _, e := range ends {
		w := world(t, &coordtest.Hand{Answer: e.answer}, nil)
		v, err := canon.Parse(w.Must(writer(w, 2), e.transition, "", e.args).Output, canon.Limits{})
		if err != nil {
			t.Fatalf("%s: %v", e.name, err)
		}
		block, ok := v.Get("world")
		effects, ok2 := block.Get("effects")
		if !ok || !ok2 || (e.status == "") != (len(effects.Items()) == 0) {
			t.Errorf("%s: world block %s", e.name, block.Bytes())
		}
		if failure, ok := v.Get("error"); ok != (e.failed && !(e.status == "denied" && strings.Contains(e.args, "after"))) {
			t.Errorf("%s: error block %s", e.name, failure.Bytes())
		}
	}
}

// TestEvidenceResolves walks from the entry down to the request's payload and up
// to the mint, for a denied and for an allowed call.
func TestEvidenceResolves(t *testing.T) {
	hand := &coordtest.Hand{}
	w := world(t, hand, nil)
	live := writer(w, 1)
	for _, task := range []string{"allowed", "denied"} {
		call := recorded(t, w, w.Must(live, coordtest.Act, task, `{"do":"`+task+`"}`).Entry)
		if got := string(call.Ended[0].Request.Payload); got != `{"do":"`+task+`"}` {
			t.Errorf("%s: payload %s", task, got)
		}
		if call.Record.Session != live.Object || call.Session.Grants[call.Ended[0].Grant].Effect != coordtest.Write {
			t.Errorf("%s: session %s, grant %d", task, call.Record.Session, call.Ended[0].Grant)
		}
		mint, err := w.Store.EntryAbout(t.Context(), call.Record.Session)
		if err != nil || mint.WrittenBy != "host:session-mint" {
			t.Errorf("%s: mint entry %+v, %v", task, mint, err)
		}
	}
}

// TestRecordsAreLawful holds the ten fields of the effect record to each end.
func TestRecordsAreLawful(t *testing.T) {
	answer := coordtest.Succeed(`{}`)
	w := world(t, &coordtest.Hand{Answer: func(broker.Job) broker.Result { return answer }}, nil)
	live := writer(w, 3)
	effect := func(args string) record.EffectRecord {
		return recorded(t, w, w.Must(live, coordtest.Act, "", args).Entry).Ended[0].Record
	}
	ok := effect(`{}`)
	if ok.BudgetBefore != 3 || ok.BudgetAfter != 2 || !ok.Allowed || ok.Failed || ok.Denial != "" || ok.ResultRef != store.RefOf([]byte(`{}`)) {
		t.Errorf("succeeded: %+v", ok)
	}
	answer = coordtest.Fail("no")
	failed := effect(`{}`)
	if failed.BudgetBefore != 2 || failed.BudgetAfter != 1 || !failed.Allowed || !failed.Failed || failed.ResultRef != "" {
		t.Errorf("failed: %+v", failed)
	}
	denied := effect(`{"cost":3}`)
	if denied.BudgetBefore != 1 || denied.BudgetAfter != 1 || denied.Allowed || denied.Denial != "denied:budget" || denied.Cost != 3 {
		t.Errorf("denied: %+v", denied)
	}
}

// TestJobIsWhatWasDecided checks what a handler is handed.
func TestJobIsWhatWasDecided(t *testing.T) {
	var deadline bool
	hand := &coordtest.Hand{Before: func(ctx context.Context, _ broker.Job) { _, deadline = ctx.Deadline() }}
	w := world(t, hand, nil)
	w.Must(writer(w, 3), coordtest.Act, "", `{"cost":3,"do":[1,2]}`)
	job := hand.Jobs()[0]
	if job.Episode != "ep" || job.Intent != "effect:ep:0" || job.Effect != coordtest.Write || job.Scope != coordtest.Scope ||
		job.Cost != 3 || string(job.Payload) != `{"do":[1,2]}` || job.Deadline <= 0 || !deadline {
		t.Errorf("job %+v, deadline %v", job, deadline)
	}
}
