package trace_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"world/broker"
	"world/coordinator/coordtest"
	"world/coordinator/registry"
	"world/drift/trace"
	"world/store"
	"world/store/handover"
	"world/store/record"
)

// lived is a world in which everything happened that a journal tells of: effects
// that succeeded, failed and were lost, denials, a second session, a revocation, a
// restart under a new lease, a second episode and an operator's word.
func lived(t *testing.T) *coordtest.World {
	t.Helper()
	ends := map[string]broker.Result{"effect:ep:1": coordtest.Fail("no"), "effect:ep:2": coordtest.Lose("nobody knows")}
	hand := &coordtest.Hand{Answer: func(job broker.Job) broker.Result {
		if r, ok := ends[job.Intent]; ok {
			return r
		}
		return coordtest.Succeed("{}")
	}}
	w := coordtest.New(t, coordtest.Handlers{coordtest.Write: hand, coordtest.Read: hand}, nil)
	first := w.Mint("ep", coordtest.Grant(coordtest.Write, coordtest.Scope, 4))
	other := w.Mint("other", coordtest.Grant(coordtest.Write, coordtest.Scope, 1))
	w.Must(first, coordtest.Act, "s", `{}`)
	w.Must(first, coordtest.Act, "f", `{}`)
	w.Must(other, coordtest.Act, "s", `{}`)
	w.Must(first, coordtest.Act, "l", `{}`)
	w.Restart()
	second := w.Mint("ep", coordtest.Grant(coordtest.Write, coordtest.Scope, 2), coordtest.Grant(coordtest.Read, coordtest.Scope, 1))
	w.Must(first, coordtest.Act, "s2", `{}`)
	w.Must(first, coordtest.Act, "denied", `{}`)
	w.Must(second, coordtest.Act, "denied2", `{}`)
	if _, err := w.Office().Revoke(t.Context(), second.Credential, w.Now()); err != nil {
		t.Fatal(err)
	}
	reconcile(t, w, "effect:ep:2")
	return w
}

// reconcile gives an operator's word.
func reconcile(t *testing.T, w *coordtest.World, intent string) {
	t.Helper()
	episode, ordinal, err := store.ParseIntentName(intent)
	if err != nil {
		t.Fatal(err)
	}
	lease, err := w.Store.Lease(t.Context(), episode)
	if err != nil {
		t.Fatal(err)
	}
	word := store.NewObject(record.Reconciliation, "host:reconcile", record.ReconciliationRecord{
		Intent: intent, Verdict: "abandoned", Note: "looked", By: "test", At: w.Now(),
	}.Bytes())
	draft, err := registry.HostDraft(t.Context(), w.Store, "reconcile", word.Ref())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Store.Act(t.Context(), store.Act{Objects: []store.Object{word}, Draft: draft, At: w.Now(), Changes: []store.Change{
		store.ReconcileIntent{Episode: episode, Ordinal: ordinal, Reconciliation: word.Ref(), Lease: lease}}}); err != nil {
		t.Fatal(err)
	}
}

func journal(t *testing.T) handover.Journal {
	t.Helper()
	j, err := handover.Read(t.Context(), lived(t).Store, t.Name())
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestALawfulJournalIsLawful(t *testing.T) {
	w := lived(t)
	r, err := trace.Store(t.Context(), w.Store)
	if err != nil || len(r.Findings) > 0 {
		t.Fatalf("%v, %v", r.Findings, err)
	}
	want := map[trace.Kind]int{trace.Mint: 4, trace.Intend: 5, trace.Run: 5, trace.Finish: 5, trace.Deny: 3, trace.Revoke: 1, trace.Reconcile: 1, trace.Takeover: 3}
	if fmt.Sprint(r.Steps) != fmt.Sprint(want) || r.Episodes != 2 || r.Assumed != 0 {
		t.Errorf("%+v, want steps %v", r, want)
	}
}

// Each violation that an invariant or the step relation rules out, planted in the
// journal that is lawful without it.
func TestPlantedViolationsAreFound(t *testing.T) {
	whole := journal(t)
	if r := trace.Check(whole); len(r.Findings) > 0 {
		t.Fatalf("nothing is planted yet: %v", r.Findings)
	}
	intent := func(j *handover.Journal, name string) *store.Intent {
		i := slices.IndexFunc(j.Intents, func(i store.Intent) bool { return i.Name() == name })
		return &j.Intents[i]
	}
	spend := func(j *handover.Journal, by int64) {
		for i := range j.Ledgers {
			if j.Ledgers[i].Episode == "ep" {
				j.Ledgers[i].Spent = slices.Clone(j.Ledgers[i].Spent)
				j.Ledgers[i].Spent[0].Total += by
			}
		}
	}
	entryOf := func(j *handover.Journal, id store.InvocationID) int {
		return slices.IndexFunc(j.Entries, func(e store.Entry) bool { return e.Invocation == id })
	}
	for _, row := range []struct {
		name, says string
		plant      func(j *handover.Journal)
	}{
		{"spend above the largest budget", "spend-bounded", func(j *handover.Journal) { spend(j, 9); intent(j, "effect:ep:3").Cost += 9 }},
		{"a cost that the grant never allowed", "intend is not lawful", func(j *handover.Journal) { intent(j, "effect:ep:0").Cost = 5 }},
		{"spend below nothing", "spend-bounded", func(j *handover.Journal) { spend(j, -9) }},
		{"an effect without an intent", "finish-effect is not lawful", func(j *handover.Journal) {
			j.Intents = slices.DeleteFunc(j.Intents, func(i store.Intent) bool { return i.Name() == "effect:ep:1" })
		}},
		{"a second outcome", "finish-effect is not lawful", func(j *handover.Journal) {
			j.Entries = append(j.Entries, j.Entries[entryOf(j, "mcp:ep:s")])
		}},
		{"an outcome that no entry tells", "its row says", func(j *handover.Journal) {
			i := entryOf(j, "mcp:ep:f")
			j.Entries = slices.Delete(j.Entries, i, i+1)
		}},
		{"a restart that refills", "the steps lead to", func(j *handover.Journal) { spend(j, -2) }},
		{"a denial that spends", "the steps lead to", func(j *handover.Journal) { spend(j, 1) }},
		{"a denial of what was allowed", "deny is not lawful", func(j *handover.Journal) {
			i, s := entryOf(j, "mcp:ep:denied"), entryOf(j, "mcp:ep:s")
			denied := j.Entries[i]
			j.Entries = slices.Insert(slices.Delete(j.Entries, i, i+1), s, denied)
			j.Evidence[denied.Transition] = earlier(t, j.Evidence[denied.Transition])
		}},
		{"a replay that runs again", "intend is not lawful", func(j *handover.Journal) {
			again := *intent(j, "effect:ep:0")
			again.Ordinal, again.Epoch, again.Outcome = 4, 2, store.Outcome{}
			j.Intents = append(j.Intents, again)
			spend(j, 1)
		}},
		{"a holder that was fenced off", "finish-effect is not lawful", func(j *handover.Journal) {
			i := entryOf(j, "mcp:ep:f")
			late := j.Entries[i]
			j.Entries = append(slices.Delete(j.Entries, i, i+1), late)
		}},
		{"an intent of an epoch that is over", "intend is not lawful", func(j *handover.Journal) { intent(j, "effect:ep:3").Epoch = 0 }},
		{"an intent of an epoch that has not come", "lease: its row is at epoch", func(j *handover.Journal) { intent(j, "effect:ep:3").Epoch = 7 }},
		{"an intent of a session that had ended", "intend is not lawful", func(j *handover.Journal) {
			i := slices.IndexFunc(j.Claims, func(c store.Claim) bool { return c.Invocation == "mcp:ep:s2" })
			s := slices.IndexFunc(j.Sessions, func(s store.Session) bool { return s.Revocation != "" })
			j.Claims[i].Session = j.Sessions[s].Object
		}},
		{"a revocation that no entry tells", "no entry says so", func(j *handover.Journal) {
			j.Entries = slices.DeleteFunc(j.Entries, func(e store.Entry) bool { return j.Evidence[e.Transition].SemanticID == record.Revocation })
		}},
		{"a word on what has its outcome", "reconcile is not lawful", func(j *handover.Journal) {
			o := intent(j, "effect:ep:2")
			o.Outcome.Status = store.StatusSucceeded
			id := j.Entries[entryOf(j, "mcp:ep:l")].Transition
			j.Evidence[id] = told(t, j.Evidence[id])
		}},
		{"a word given twice", "reconcile is not lawful", func(j *handover.Journal) {
			i := slices.IndexFunc(j.Entries, func(e store.Entry) bool { return j.Evidence[e.Transition].SemanticID == record.Reconciliation })
			j.Entries = append(j.Entries, j.Entries[i])
		}},
		{"an intent of a session that nobody minted", "intend is not lawful", func(j *handover.Journal) {
			i := slices.IndexFunc(j.Entries, func(e store.Entry) bool { return j.Evidence[e.Transition].SemanticID == record.Session })
			j.Entries = slices.Delete(j.Entries, i, i+1)
		}},
		{"a call that nobody claimed", "is not claimed", func(j *handover.Journal) {
			j.Claims = slices.DeleteFunc(j.Claims, func(c store.Claim) bool { return c.Invocation == "mcp:ep:s" })
		}},
		{"a lease that is gone", "lease: it is missing", func(j *handover.Journal) { j.Leases = nil }},
	} {
		j := whole
		j.Entries, j.Claims, j.Intents = slices.Clone(whole.Entries), slices.Clone(whole.Claims), slices.Clone(whole.Intents)
		j.Ledgers, j.Sessions = slices.Clone(whole.Ledgers), slices.Clone(whole.Sessions)
		j.Evidence = map[store.Ref]handover.Evidence{}
		for ref, e := range whole.Evidence {
			j.Evidence[ref] = e
		}
		row.plant(&j)
		r := trace.Check(j)
		if !slices.ContainsFunc(r.Findings, func(f trace.Finding) bool { return strings.Contains(f.String(), row.says) }) {
			t.Errorf("%s: no %q in %v", row.name, row.says, r.Findings)
		}
	}
	if r := trace.Check(whole); len(r.Findings) > 0 {
		t.Errorf("the planting reached the original: %v", r.Findings)
	}
}

// earlier makes a denial's record say that it was decided first.
func earlier(t *testing.T, e handover.Evidence) handover.Evidence {
	t.Helper()
	r, err := record.DecodeInvocation(e.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	r.Ordinal = 0
	return handover.Evidence{SemanticID: e.SemanticID, Bytes: r.Bytes()}
}

// told makes the record of a lost effect say that it succeeded.
func told(t *testing.T, e handover.Evidence) handover.Evidence {
	t.Helper()
	r, err := record.DecodeInvocation(e.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	x := &r.Effects[0]
	x.Status, x.Record, x.Detail = record.StatusOK, x.Request, ""
	return handover.Evidence{SemanticID: e.SemanticID, Bytes: r.Bytes()}
}
