package fsck

import (
	"fmt"

	"world/broker/law"
	"world/store"
	"world/store/record"
)

// evidence is what a call's entry leads to.
type evidence struct {
	call     read[record.InvocationRecord]
	requests []read[record.EffectRequest] // one an effect
	records  []read[record.EffectRecord]  // those of effects that have one
}

// finished holds a call's entry, its records and its journal rows together.
func (c *checker) finished(at place, e store.Entry, v *evidence) {
	k := c.calls.of(e.Invocation)
	if k.flags&hasEntry != 0 {
		c.find(at.Where(), "invocation %q has another entry", e.Invocation)
	}
	k.flags |= hasEntry
	if !c.stored(e.Transition) {
		return // named wrongly, and found already
	}
	r := v.call.record
	if v.call.err != nil {
		c.find(at.Where(), "its invocation record cannot be read: %s", why(v.call.err))
		return
	}
	c.sameCall(at, e, r)
	c.names(at, "input", r.Input)
	c.names(at, "output", r.Output)
	c.names(at, "registry", r.Registry)
	c.names(at, "session", r.Session)
	if r.Plan != "" {
		c.names(at, "plan", r.Plan)
	}
	claim := store.Claim{Invocation: r.InvocationID, Episode: r.EpisodeID, Transition: r.SkillID,
		TransitionFn: r.TransitionFn, Input: r.Input, Session: r.Session}
	if k.flags&hasClaim != 0 && k.claim != claim.Digest() {
		c.find(at.Where(), "its claim is of another call")
	}
	ran := false
	for i, x := range r.Effects {
		if c.stored(x.Request) {
			c.effect(effectAt{at, x.ID}, r, x, v.requests[i], v.records[i], k)
		} else {
			c.names(at, "request", x.Request)
		}
		ran = ran || x.Intent != ""
	}
	if k.flags&hasIntent != 0 && !ran {
		c.find(at.Where(), "its record says nothing of intent %s", c.intentOf(k))
	}
}

func (c *checker) sameCall(at place, e store.Entry, r record.InvocationRecord) {
	switch {
	case r.InvocationID != e.Invocation:
		c.find(at.Where(), "its record is of invocation %q", r.InvocationID)
	case r.TransitionFn != e.TransitionFn || r.Interpreter != e.Interpreter || r.SemanticsEpoch != e.SemanticsEpoch:
		c.find(at.Where(), "its record is of another transition or interpreter")
	case r.Output != e.StateRoot:
		c.find(at.Where(), "its record has another output than its state root")
	}
}

// effectAt is an effect of the call at a place.
type effectAt struct {
	place
	id string
}

func (e effectAt) Where() string { return fmt.Sprintf("%s effect %q", e.place.Where(), e.id) }

// effect decides one effect again from the evidence and compares what was
// recorded, then the intent's row with it.
func (c *checker) effect(at place, r record.InvocationRecord, x record.EffectOutcome,
	asked read[record.EffectRequest], kept read[record.EffectRecord], k *call) {
	q := asked.record
	if asked.err != nil {
		c.find(at.Where(), "its request cannot be read: %s", why(asked.err))
		return
	}
	if q.Now != r.Now {
		c.find(at.Where(), "it was requested at %d and decided at %d", q.Now, r.Now)
	}
	d, err := c.decide(r, q)
	if err != nil {
		c.find(at.Where(), "its session cannot be read: %s", why(err))
		return
	}
	if x.Grant != d.Grant {
		c.find(at.Where(), "grant %d decided, the law says %d", x.Grant, d.Grant)
	}
	if (d.Verdict == law.Allowed) == (x.Status == record.StatusDenied) {
		c.find(at.Where(), "it was %s, the law says %s", x.Status, d.Verdict.Label())
	}
	detail := x.Detail
	if x.Record != "" {
		rec := kept.record
		if kept.err != nil {
			c.find(at.Where(), "its record cannot be read: %s", why(kept.err))
			return
		}
		if want := recorded(q, d, x, rec.ResultRef); rec != want {
			c.find(at.Where(), "its record says %+v, the evidence %+v", rec, want)
		}
		if rec.ResultRef != "" {
			c.names(at, "result", rec.ResultRef)
			detail = rec.ResultRef
		}
	}
	if detail != "" {
		c.names(at, "detail", detail)
	}
	c.intent(at, r, x, q, detail, k)
}

// recorded is the effect record that the evidence leads to. What came of the
// effect is the record's own word; that it names a stored result is checked.
func recorded(q record.EffectRequest, d law.Decision, x record.EffectOutcome, result store.Ref) record.EffectRecord {
	if d.Verdict != law.Allowed {
		return record.DeniedEffect(q, d, x.Request)
	}
	if x.Status != record.StatusOK {
		result = ""
	}
	return record.RunEffect(q, d, x.Request, result)
}

// decide asks the law as the broker did: the session's grants, less what the
// episode's intents before this one had spent.
func (c *checker) decide(r record.InvocationRecord, q record.EffectRequest) (law.Decision, error) {
	s, err := c.session(r.Session)
	if err != nil {
		return law.Decision{}, err
	}
	if s.Episode != r.EpisodeID {
		c.find(fmt.Sprintf("invocation %q", r.InvocationID), "its session is of episode %q", s.Episode)
	}
	grants := s.Law()
	for i := range grants {
		g := &grants[i]
		g.Budget = law.Seed(g.Budget, c.spending[r.EpisodeID].before(g.Effect, g.Scope, r.Ordinal))
	}
	return law.Decide(grants, q.Law()), nil
}

// statuses are an effect's endings as the journal names them.
var statuses = map[string]store.Status{
	record.StatusOK: store.StatusSucceeded, record.StatusFailed: store.StatusFailed,
	record.StatusIndeterminate: store.StatusIndeterminate,
}

func (c *checker) intent(at place, r record.InvocationRecord, x record.EffectOutcome, q record.EffectRequest, detail store.Ref, k *call) {
	if x.Intent == "" {
		if k.flags&hasIntent != 0 {
			c.find(at.Where(), "it was %s, and there is intent %s", x.Status, c.intentOf(k))
		}
		return
	}
	want := store.Intent{Episode: r.EpisodeID, Ordinal: r.Ordinal, Invocation: r.InvocationID, Effect: q.Effect, Scope: q.Scope,
		Cost: q.Cost, Request: x.Request, Outcome: store.Outcome{Status: statuses[x.Status], Record: x.Record, Detail: detail}}
	switch {
	case k.flags&hasIntent == 0:
		c.find(at.Where(), "its intent %s is missing", x.Intent)
	case x.Intent != want.Name() || c.intentOf(k) != x.Intent:
		c.find(at.Where(), "its intent is %s, decided as %s and stored as %s", x.Intent, want.Name(), c.intentOf(k))
	case k.intent != want.Digest():
		c.find(at.Where(), "its intent's row does not say what the records say")
	}
}
