package replay_test

import (
	"strings"
	"testing"

	"world/coordinator/coordtest"
	"world/coordinator/replay"
	"world/fault"
	"world/session"
	"world/store"
	"world/store/fsck"
	"world/store/record"
	"world/store/why"
)

// commits is a world whose store may forge, and a session that may commit twice.
func commits(t *testing.T) (*coordtest.World, *forger, session.Live) {
	t.Helper()
	w, f, _ := world(t, &coordtest.Hand{})
	return w, f, w.Mint("notes", coordtest.Grant(record.CommitEffect, record.CommitScope, 2))
}

// TestForgedCommits changes one part of what a commit makes durable, with right
// hashes and digests. Replay and fsck must both name it.
func TestForgedCommits(t *testing.T) {
	type (
		finish    = store.Finish
		intention = store.Intention
	)
	other := store.NewObject("notes/other/v1", "rest:notes", []byte("another note"))
	request := func(in *intention, edit func(*record.EffectRequest)) {
		last := len(in.Objects) - 1
		q, err := record.DecodeRequest(in.Objects[last].Bytes())
		if err != nil {
			panic(err)
		}
		edit(&q)
		in.Objects[last] = store.NewObject(record.Request, "host/broker", q.Bytes())
		in.Request = in.Objects[last].Ref()
	}
	for name, c := range map[string]struct {
		at        replay.Position // "" when nothing is wrong
		find      string
		claim     func(*store.Claim)
		intention func(*intention)
		finish    func(*finish)
	}{
		"nothing":         {},
		"state":           {at: replay.AtEntry, find: "not the entry", finish: func(f *finish) { f.Draft.StateRoot = f.Draft.TransitionFn }},
		"transition":      {at: replay.AtEntry, find: "not the entry", finish: func(f *finish) { f.Draft.Transition = f.Draft.TransitionFn }},
		"epoch":           {at: replay.AtEntry, find: "not the entry", finish: func(f *finish) { f.Draft.SemanticsEpoch++ }},
		"author":          {at: replay.AtEntry, find: "not the entry", finish: func(f *finish) { f.Draft.WrittenBy = "rest:ep" }},
		"object left out": {at: replay.AtEvidence, find: "object names an object", finish: func(f *finish) { f.Objects = f.Objects[:len(f.Objects)-1] }},
		"result": {at: replay.AtIntent, find: "its intent's row", finish: func(f *finish) {
			f.Objects = append(f.Objects, other)
			f.Outcome.Detail = other.Ref()
		}},
		"record": {at: replay.AtEffectRecord, find: "its intent's row", finish: func(f *finish) {
			_, f.Outcome.Record = swap(f, record.Effect, func(raw []byte) []byte {
				return []byte(strings.Replace(string(raw), `"budgetBefore":2,"budgetAfter":1`, `"budgetBefore":3,"budgetAfter":2`, 1))
			})
		}},
		"failure": {at: replay.AtIntent, find: "its intent's row", finish: func(f *finish) { f.Outcome.Status = store.StatusFailed }},
		"payload": {at: replay.AtIntent, find: "request names an object", intention: func(in *intention) {
			request(in, func(q *record.EffectRequest) { q.Payload = []byte(`{}`) })
		}},
		"time": {at: replay.AtIntent, find: "request names an object", intention: func(in *intention) {
			request(in, func(q *record.EffectRequest) { q.Now++ })
		}},
		"cost":          {at: replay.AtIntent, find: "its intent's row", intention: func(in *intention) { in.Cost = 0 }},
		"effect":        {at: replay.AtIntent, find: "its intent's row", intention: func(in *intention) { in.Effect = "World.Other" }},
		"scope":         {at: replay.AtIntent, find: "its intent's row", intention: func(in *intention) { in.Scope = "elsewhere" }},
		"transition id": {at: replay.AtClaim, find: "no intent of one", claim: func(cl *store.Claim) { cl.Transition = "act" }},
		"input":         {at: replay.AtEvidence, find: "cannot be read", claim: func(cl *store.Claim) { cl.Input = cl.TransitionFn }},
		"claim time":    {at: replay.AtIntent, find: "request names an object", claim: func(cl *store.Claim) { cl.At++ }},
	} {
		t.Run(name, func(t *testing.T) {
			w, f, live := commits(t)
			w.Forged = true
			m := w.NextCommit(live, "forged", "a note")
			extra := store.NewObject("notes/extra/v1", "rest:notes", []byte("an object that the entry does not name"))
			m.Objects = append(m.Objects, extra)
			m.Record.Objects = append(m.Record.Objects, record.CommitObject{Hash: extra.Ref(), SemanticID: "notes/extra/v1"})
			f.intention = func(in *intention) {
				if c.claim != nil {
					c.claim(&in.Claim)
				}
				if c.intention != nil {
					c.intention(in)
				}
			}
			f.finish = func(fin *finish) {
				if c.claim != nil {
					c.claim(&fin.Claim)
				}
				if c.finish != nil {
					c.finish(fin)
				}
			}
			if reply, err := w.C.Commit(t.Context(), live, m); err != nil || reply.Failed {
				t.Fatalf("%+v, %v", reply, err)
			}
			r, err := replay.Replay(t.Context(), w.Store, coordtest.Runner{}, "rest:forged")
			if err != nil || r.Position != c.at || (r.Verdict == replay.Same) != (c.at == "") {
				t.Errorf("replay: %+v, %v", r, err)
			}
			report, err := fsck.Run(t.Context(), w.Store, fsck.Options{})
			if err != nil || report.Clean() != (c.find == "") || !strings.Contains(findings(report), c.find) {
				t.Errorf("fsck: %v, %v", report.Findings, err)
			}
			// A quick look and a walk see at least that the entry is another.
			recent, err := fsck.Recent(t.Context(), w.Store)
			if err != nil || recent.Clean() && c.at == replay.AtEntry || !recent.Clean() && c.at == "" {
				t.Errorf("recent: %v, %v", recent.Findings, err)
			}
			trail, err := why.Walk(t.Context(), w.Store, "rest:forged", why.DefaultScan)
			if err != nil || trail.Holds && c.at == replay.AtEntry || !trail.Holds && c.at == "" {
				t.Errorf("why: %+v, %v", trail, err)
			}
		})
	}
}

func findings(r fsck.Report) string {
	var b strings.Builder
	for _, f := range r.Findings {
		b.WriteString(f.String() + "\n")
	}
	return b.String()
}

// TestForgedAuthority commits on the word of a session that may not.
func TestForgedAuthority(t *testing.T) {
	w, f, live := commits(t)
	w.Forged = true
	for name, poor := range map[string]session.Live{
		"denied:effect-name": w.Mint("notes", coordtest.Grant(coordtest.Write, coordtest.Scope, 9)),
		"denied:budget":      w.Mint("notes", coordtest.Grant(record.CommitEffect, record.CommitScope, 0)),
		"denied:scope":       w.Mint("notes", coordtest.Grant(record.CommitEffect, "elsewhere", 9)),
	} {
		f.intention = func(in *store.Intention) { in.Claim.Session, in.Credential = poor.Object, poor.Credential }
		f.finish = func(fin *store.Finish) { fin.Claim.Session = poor.Object }
		task := strings.TrimPrefix(name, "denied:")
		rich := w.Mint("notes", coordtest.Grant(record.CommitEffect, record.CommitScope, 9))
		if reply, err := w.C.Commit(t.Context(), rich, w.NextCommit(live, task, name)); err != nil || reply.Failed {
			t.Fatalf("%+v, %v", reply, err)
		}
		r, err := replay.Replay(t.Context(), w.Store, coordtest.Runner{}, store.CommitInvocation(task))
		if err != nil || r.Position != replay.AtDecision || !strings.Contains(r.Got, name) {
			t.Errorf("replay: %+v, %v", r, err)
		}
		report, err := fsck.Run(t.Context(), w.Store, fsck.Options{})
		if err != nil || !strings.Contains(findings(report), "it was committed, the law says "+name) {
			t.Errorf("fsck: %v, %v", report.Findings, err)
		}
	}
}

// TestForgedEpisode commits on the grant of a session of another episode.
func TestForgedEpisode(t *testing.T) {
	w, f, live := commits(t)
	w.Forged = true
	stranger := w.Mint("elsewhere", coordtest.Grant(record.CommitEffect, record.CommitScope, 2))
	f.intention = func(in *store.Intention) { in.Claim.Session, in.Credential = stranger.Object, stranger.Credential }
	f.finish = func(fin *store.Finish) { fin.Claim.Session = stranger.Object }
	if reply, err := w.C.Commit(t.Context(), live, w.NextCommit(live, "forged", "a note")); err != nil || reply.Failed {
		t.Fatalf("%+v, %v", reply, err)
	}
	r, err := replay.Replay(t.Context(), w.Store, coordtest.Runner{}, "rest:forged")
	if err != nil || r.Position != replay.AtClaim {
		t.Errorf("replay: %+v, %v", r, err)
	}
	report, err := fsck.Run(t.Context(), w.Store, fsck.Options{})
	if err != nil || !strings.Contains(findings(report), `its session is of episode "elsewhere"`) {
		t.Errorf("fsck: %v, %v", report.Findings, err)
	}
}

// TestForgedRefusals forges the record of a denied commit.
func TestForgedRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		at     replay.Position
		finish func(*store.Finish)
	}{
		"nothing": {},
		"label":   {replay.AtEffectRecord, func(f *store.Finish) { forgeEffect(f, func(r *record.EffectRecord) { r.Denial = "denied:scope" }) }},
		"budget": {replay.AtEffectRecord, func(f *store.Finish) {
			forgeEffect(f, func(r *record.EffectRecord) { r.BudgetBefore, r.BudgetAfter = 1, 1 })
		}},
		"grant":   {replay.AtDecision, func(f *store.Finish) { forge(f, func(r *record.InvocationRecord) { r.Effects[0].Grant = -1 }) }},
		"failure": {replay.AtRecord, func(f *store.Finish) { forge(f, func(r *record.InvocationRecord) { r.Failure = "failed" }) }},
		"effects": {replay.AtEffectRecord, func(f *store.Finish) { forge(f, func(r *record.InvocationRecord) { r.Effects = nil }) }},
		"output": {replay.AtOutput, func(f *store.Finish) {
			_, to := swap(f, record.Output, func([]byte) []byte { return []byte(`{}`) })
			f.Draft.StateRoot = to
			forge(f, func(r *record.InvocationRecord) { r.Output = to })
		}},
		"plan": {replay.AtRecord, func(f *store.Finish) { forge(f, func(r *record.InvocationRecord) { r.Plan = r.Input }) }},
	} {
		w, f, _ := commits(t)
		live := w.Mint("notes", coordtest.Grant(record.CommitEffect, record.CommitScope, 0))
		if c.finish != nil {
			f.finish = c.finish
		}
		reply, err := w.C.Commit(t.Context(), live, w.NextCommit(live, "no", "a note"))
		if err != nil || reply.Kind != fault.Denied {
			t.Fatalf("%+v, %v", reply, err)
		}
		r, err := replay.Replay(t.Context(), w.Store, coordtest.Runner{}, "rest:no")
		if err != nil || r.Position != c.at || (r.Verdict == replay.Same) != (c.at == "") {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// TestNobodyWritesInACommitsName lets a call and an act say that a client wrote them.
func TestNobodyWritesInACommitsName(t *testing.T) {
	w, f, _ := commits(t)
	f.finish = func(fin *store.Finish) { fin.Draft.WrittenBy = "rest:ep" }
	live := w.Mint("ep", coordtest.Grant(coordtest.Write, coordtest.Scope, 1))
	reply := w.Must(live, coordtest.Echo, "call", `{}`)
	if r, err := replay.Replay(t.Context(), w.Store, coordtest.Runner{}, reply.Invocation); err != nil || r.Verdict != replay.Diverged {
		t.Errorf("replay: %+v, %v", r, err)
	}
	about := store.NewObject("x", "test", []byte("an act"))
	draft, err := w.Office().Draft(t.Context(), "forge", about.Ref())
	if err != nil {
		t.Fatal(err)
	}
	draft.WrittenBy = "rest:ep"
	if _, err := w.Store.Act(t.Context(), store.Act{Objects: []store.Object{about}, Draft: draft, At: w.Now()}); err != nil {
		t.Fatal(err)
	}
	report, err := fsck.Run(t.Context(), w.Store, fsck.Options{})
	if err != nil || strings.Count(findings(report), "the journal has no intent of one") != 2 {
		t.Errorf("fsck: %v, %v", report.Findings, err)
	}
	quick, err := fsck.Recent(t.Context(), w.Store)
	if err != nil || quick.Clean() {
		t.Errorf("recent: %v, %v", quick.Findings, err)
	}
}
