package why

import (
	"errors"

	"world/fault"
	"world/store"
	"world/store/record"
)

// maxBrought is how many objects of one commit are walked to; the rest is counted.
const maxBrought = 16

// commit walks from a client's own entry to what was committed and the grant
// that allowed it. The journal's rows lead: the entry names nothing of the host's.
func (w *walker) commit(e store.Entry) {
	claim, err := w.r.Claim(w.ctx, e.Invocation)
	if err != nil {
		w.fail("claim", "", err)
		return
	}
	r, ok := decoded(w, "commit", claim.Input, record.DecodeCommit, func(r record.CommitRecord) (string, error) {
		return sprintf("%d object(s) of episode %s at %d", len(r.Objects), r.Episode, claim.At), errors.Join(
			differs("its entry", r.Entry(e.Invocation), e), differs("its episode", r.Episode, claim.Episode),
		)
	})
	if !ok {
		return
	}
	w.object("source", e.TransitionFn, raw)
	w.object("interpreter", e.Interpreter, nothing)
	for _, o := range r.Objects[:min(len(r.Objects), maxBrought)] {
		w.object("object", o.Hash, func(b []byte) (string, error) {
			text, err := raw(b)
			return sprintf("%s: %s", o.SemanticID, text), err
		})
	}
	if more := len(r.Objects) - maxBrought; more > 0 {
		w.add(Step{Part: "object", Says: sprintf("and %d more", more)})
	}
	w.object("state", e.StateRoot, raw)
	w.commitEffect(claim, e)
}

func (w *walker) commitEffect(claim store.Claim, e store.Entry) {
	if w.err != nil {
		return
	}
	i, err := w.r.IntentOf(w.ctx, e.Invocation)
	if err != nil {
		w.fail("intent", "", err)
		return
	}
	q := w.request(i.Request)
	result := store.RefOf(record.CommitResult(e))
	decoded(w, "record", i.Outcome.Record, record.DecodeEffect, func(r record.EffectRecord) (string, error) {
		return says(r), errors.Join(
			differs("its request", r.RequestRef, i.Request), differs("its effect", r.Effect, q.Effect),
			differs("its scope", r.Scope, q.Scope), differs("its result", r.ResultRef, result),
		)
	})
	w.journaled(i, differs("its status", i.Outcome.Status, store.StatusSucceeded), differs("its detail", i.Outcome.Detail, result))
	w.object("result", result, raw)
	if s, ok := w.session(claim.Session, claim.Episode); ok {
		w.grant(s, record.EffectOutcome{Status: record.StatusOK, Grant: covering(s, q)}, q)
	}
	w.mint(claim.Session)
}

// covering is the grant that an allowed effect was decided by: a session has one
// of its effect and scope at most, -1 for none.
func covering(s record.SessionRecord, q record.EffectRequest) int {
	for i, g := range s.Grants {
		if g.Effect == q.Effect && g.Scope == q.Scope {
			return i
		}
	}
	return -1
}

// brings reports whether a commit brought an object or names it otherwise.
func (w *walker) brings(e store.Entry, ref store.Ref) (bool, error) {
	claim, err := w.r.Claim(w.ctx, e.Invocation)
	if err != nil {
		return false, unlessDamaged(err)
	}
	if among(ref, claim.Input, claim.Session) {
		return true, nil
	}
	o, err := w.r.Object(w.ctx, claim.Input)
	if err != nil {
		return false, unlessDamaged(err)
	}
	r, err := record.DecodeCommit(o.Bytes())
	if err != nil {
		return false, nil
	}
	for _, brought := range r.Objects {
		if brought.Hash == ref {
			return true, nil
		}
	}
	i, err := w.r.IntentOf(w.ctx, e.Invocation)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	if err != nil {
		return false, unlessDamaged(err)
	}
	return among(ref, i.Request, i.Outcome.Record, i.Outcome.Detail), nil
}
