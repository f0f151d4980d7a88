package why

import (
	"world/fault"
	"world/store"
	"world/store/record"
)

// ref walks from the entry about an object, or from the newest one that names it.
func (w *walker) ref(ref store.Ref, scan int) error {
	e, err := w.r.EntryAbout(w.ctx, ref)
	if fault.Is(err, fault.NotFound) {
		e, err = w.search(ref, int64(scan))
	}
	if err != nil {
		return err
	}
	w.entry(e)
	return nil
}

// search reads the newest entries and their invocation records, newest first.
// What does not decode names nothing.
func (w *walker) search(ref store.Ref, scan int64) (store.Entry, error) {
	head, err := w.r.Head(w.ctx)
	if err != nil {
		return store.Entry{}, err
	}
	oldest := max(head.Index-scan+1, 0)
	for end := head.Index + 1; end > oldest; {
		from := max(end-page, oldest)
		entries, err := w.r.Entries(w.ctx, from, int(end-from))
		if err != nil {
			return store.Entry{}, err
		}
		for i := len(entries) - 1; i >= 0; i-- {
			names, err := w.names(entries[i], ref)
			if err != nil || names {
				return entries[i], err
			}
		}
		end = from
	}
	return store.Entry{}, fault.New("why: search", fault.NotFound, "none of the %d newest entries names %s", head.Index+1-oldest, ref)
}

// names reports whether an entry or its call's evidence names a ref.
func (w *walker) names(e store.Entry, ref store.Ref) (bool, error) {
	if among(ref, e.Hash, e.World, e.StateRoot, e.TransitionFn, e.Interpreter) {
		return true, nil
	}
	if record.IsCommit(e) {
		return w.brings(e, ref)
	}
	if e.Invocation == "" {
		return false, nil
	}
	o, err := w.r.Object(w.ctx, e.Transition)
	if err != nil {
		return false, unlessDamaged(err)
	}
	c, err := record.DecodeInvocation(o.Bytes())
	if err != nil {
		return false, nil
	}
	if among(ref, c.Input, c.Output, c.Plan, c.Registry, c.Session) {
		return true, nil
	}
	for _, effect := range c.Effects {
		if among(ref, effect.Request, effect.Record, effect.Detail) {
			return true, nil
		}
		if effect.Record == "" {
			continue
		}
		o, err := w.r.Object(w.ctx, effect.Record)
		if err != nil {
			return false, unlessDamaged(err)
		}
		if rec, err := record.DecodeEffect(o.Bytes()); err == nil && rec.ResultRef == ref {
			return true, nil
		}
	}
	return false, nil
}

func among(ref store.Ref, refs ...store.Ref) bool {
	for _, r := range refs {
		if r == ref {
			return true
		}
	}
	return false
}

// unlessDamaged drops errors about the evidence: a search looks past damage.
func unlessDamaged(err error) error {
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Corrupt) {
		return nil
	}
	return err
}
