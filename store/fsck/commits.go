package fsck

import (
	"world/broker/law"
	"world/store"
	"world/store/record"
)

// commit is the journal of one commit over REST. A store has few of them, and
// their entries hold no record that would name the rest, so the rows are kept.
type commit struct {
	claim  store.Claim
	intent *store.Intent
}

func (c *checker) keepClaim(cl store.Claim) {
	if cl.Transition == record.CommitSkill {
		c.commits[cl.Invocation] = &commit{claim: cl}
	}
}

func (c *checker) keepIntent(i store.Intent) {
	if m := c.commits[i.Invocation]; m != nil {
		kept := i // so that none moves to the heap but these
		m.intent = &kept
	}
}

// committed holds a client's entry to its claim, and decides its effect again.
func (c *checker) committed(at place, e store.Entry) {
	k := c.calls.of(e.Invocation)
	if k.flags&hasEntry != 0 {
		c.find(at.Where(), "invocation %q has another entry", e.Invocation)
	}
	k.flags |= hasEntry
	m := c.commits[e.Invocation]
	if m == nil || m.intent == nil {
		c.find(at.Where(), "it is written as a commit, and the journal has no intent of one")
		return
	}
	asked := decoded(c, m.claim.Input, record.DecodeCommit)
	if asked.err != nil {
		c.find(at.Where(), "what was to be committed cannot be read: %s", why(asked.err))
		return
	}
	r := asked.record
	if r.Entry(e.Invocation) != e || r.Episode != m.claim.Episode {
		c.find(at.Where(), "it is not the entry that was to be committed")
	}
	for _, o := range r.Objects {
		c.names(at, "object", o.Hash)
	}
	c.commitEffect(at, e, r, *m)
}

// commitEffect holds request, record, result and intent of a commit that landed.
func (c *checker) commitEffect(at place, e store.Entry, r record.CommitRecord, m commit) {
	i := *m.intent
	q := record.EffectRequest{
		Effect: record.CommitEffect, Scope: record.CommitScope, Cost: record.CommitCost, Now: m.claim.At, Payload: r.Payload(),
	}
	request, result := store.RefOf(q.Bytes()), store.RefOf(record.CommitResult(e))
	c.names(at, "request", request)
	c.names(at, "result", result)
	d, err := c.decide(record.InvocationRecord{
		InvocationID: e.Invocation, EpisodeID: m.claim.Episode, Session: m.claim.Session, Ordinal: i.Ordinal,
	}, q)
	if err != nil {
		c.find(at.Where(), "its session cannot be read: %s", why(err))
		return
	}
	if d.Verdict != law.Allowed {
		c.find(at.Where(), "it was committed, the law says %s", d.Verdict.Label())
		return
	}
	want := store.Intent{
		Episode: m.claim.Episode, Ordinal: i.Ordinal, Invocation: e.Invocation, Effect: q.Effect, Scope: q.Scope, Cost: q.Cost,
		Request: request, Outcome: store.Outcome{
			Status: store.StatusSucceeded, Detail: result, Record: store.RefOf(record.RunEffect(q, d, request, result).Bytes()),
		},
	}
	if asRecorded(i) != want.Digest() || i.At != m.claim.At {
		c.find(at.Where(), "its intent's row does not say what the evidence says")
	}
}
