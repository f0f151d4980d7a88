package why

import (
	"world/fault"
	"world/store"
	"world/store/record"
)

// entry walks from one log entry to all that it rests on.
func (w *walker) entry(e store.Entry) {
	w.link("entry", e)
	if w.err != nil {
		return
	}
	switch {
	case record.IsCommit(e):
		w.commit(e)
	case e.Invocation != "":
		w.call(e)
	default:
		w.act(e)
	}
}

// link adds an entry, with its hashes computed again and its place in the chain held.
func (w *walker) link(part string, e store.Entry) {
	s := Step{Part: part, Ref: e.Hash, Says: sprintf("log %d by %s", e.Index, e.WrittenBy)}
	if e.Invocation != "" {
		s.Says = sprintf("log %d by %s: %s", e.Index, e.WrittenBy, e.Invocation)
	}
	if err := w.chained(e); err != nil {
		if kind := fault.KindOf(err); kind != fault.Corrupt && kind != fault.NotFound {
			w.err = err
			return
		}
		s.Fault = fault.Public(err)
	}
	w.add(s)
}

func (w *walker) chained(e store.Entry) error {
	if err := differs("the entry's hash", e.Hash, e.ComputeHash()); err != nil {
		return err
	}
	if err := differs("the entry's world", e.World, store.WorldRef(e.Index, e.StateRoot, e.Hash)); err != nil {
		return err
	}
	before := store.Void.Entry
	if e.Index > 0 {
		previous, err := w.r.Entry(w.ctx, e.Index-1)
		if err != nil {
			return fault.Wrap("why: walk", fault.KindOf(err), err, "log %d, which this entry follows, cannot be read", e.Index-1)
		}
		before = previous.Hash
	}
	return differs("the hash of the entry before", e.Prev, before)
}

// act walks the evidence of something the host did.
func (w *walker) act(e store.Entry) {
	labels, err := w.r.Labels(w.ctx, e.Transition)
	if err != nil {
		w.fail("act", e.Transition, err)
		return
	}
	for _, l := range labels {
		switch l.SemanticID {
		case record.Session:
			w.session(e.Transition, "")
			return
		case record.Revocation:
			w.revocation(e.Transition)
			return
		case record.Reconciliation:
			w.reconciliation(e.Transition)
			return
		case record.Notice:
			w.notice(e.Transition)
			return
		case record.Genesis:
			w.genesis(e.Transition)
			return
		case record.Ending:
			w.ending(e.Transition)
			return
		}
	}
	w.object("act", e.Transition, raw)
}

func (w *walker) genesis(ref store.Ref) {
	g, ok := decoded(w, "genesis", ref, record.DecodeGenesis, func(g record.GenesisRecord) (string, error) {
		return sprintf("at %d", g.At), nil
	})
	if ok {
		w.registry(g.Registry)
	}
}

func (w *walker) registry(ref store.Ref) {
	decoded(w, "registry", ref, record.DecodeRegistry, func(r record.RegistryRevision) (string, error) {
		return sprintf("revision %d with %d transitions", r.Revision, len(r.Entries)), nil
	})
}

func (w *walker) revocation(ref store.Ref) {
	r, ok := decoded(w, "revocation", ref, record.DecodeRevocation, func(r record.RevocationRecord) (string, error) {
		return sprintf("at %d", r.At), nil
	})
	if ok {
		w.session(r.Session, "")
		w.mint(r.Session)
	}
}

func (w *walker) ending(ref store.Ref) {
	decoded(w, "end", ref, record.DecodeEnding, func(r record.EndingRecord) (string, error) {
		text := sprintf("of episode %s by %s at %d, worktree %s", r.Episode, r.By, r.At, r.Worktree)
		if c := r.Changed; c != nil {
			text += sprintf(": %d files changed since %s, %d lines added, %d deleted", c.Files, c.Commit, c.Added, c.Deleted)
		}
		for _, s := range r.Spent {
			text += sprintf("; %s on %s: %d", s.Effect, s.Scope, s.Total)
		}
		return text, nil
	})
}

func (w *walker) notice(ref store.Ref) {
	decoded(w, "notice", ref, record.DecodeNotice, func(n record.NoticeRecord) (string, error) {
		return sprintf("%s by %s at %d: %s", n.Act, n.By, n.At, n.Note), nil
	})
}

func (w *walker) reconciliation(ref store.Ref) {
	r, ok := w.word(ref, "")
	if !ok || w.err != nil {
		return
	}
	if err := w.intent(r.Intent); err != nil {
		w.fail("intent", "", err)
	}
}

// word walks to an operator's word, on a certain intent when one is named.
func (w *walker) word(ref store.Ref, intent string) (record.ReconciliationRecord, bool) {
	return decoded(w, "reconciliation", ref, record.DecodeReconciliation, func(r record.ReconciliationRecord) (string, error) {
		line := sprintf("%s %s by %s: %s", r.Intent, r.Verdict, r.By, r.Note)
		if intent == "" {
			return line, nil
		}
		return line, differs("its intent", r.Intent, intent)
	})
}
