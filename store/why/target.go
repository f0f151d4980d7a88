package why

import (
	"context"
	"strconv"
	"strings"

	"world/fault"
	"world/store"
)

const (
	// DefaultScan is how many of the newest entries are searched for a ref.
	DefaultScan = 500
	// MaxScan is the largest number of entries searched for a ref.
	MaxScan = 5000

	maxTarget = 512 // bytes
	page      = 500 // entries read at a time
)

// Walk finds a target and follows its evidence. A target is a log index, "head",
// a ref, an invocation id or the name of an intent. A ref that is not the
// transition ref of an entry is searched in the scan newest entries. NotFound
// when there is no such target, Invalid when it is none of these; any other
// error is the store's. A broken link is no error: see Trail.Holds.
func Walk(ctx context.Context, r store.Reader, target string, scan int) (Trail, error) {
	w := &walker{ctx: ctx, r: r}
	if err := w.from(target, scan); err != nil {
		return Trail{}, err
	}
	if w.err != nil {
		return Trail{}, w.err
	}
	t := Trail{Target: target, Steps: w.steps, Holds: true}
	for _, s := range t.Steps {
		t.Holds = t.Holds && s.Fault == ""
	}
	return t, nil
}

func (w *walker) from(target string, scan int) error {
	if scan < 1 || scan > MaxScan {
		return fault.New("why: walk", fault.Invalid, "a scan is 1 to %d entries", MaxScan)
	}
	switch {
	case len(target) > maxTarget:
		return badTarget()
	case target == "head":
		h, err := w.r.Head(w.ctx)
		if err != nil {
			return err
		}
		return w.index(h.Index)
	case strings.HasPrefix(target, "sha256:"):
		ref, err := store.ParseRef(target)
		if err != nil {
			return err
		}
		return w.ref(ref, scan)
	case strings.HasPrefix(target, "effect:"):
		return w.intent(target)
	case strings.Contains(target, ":"):
		return w.invocation(store.InvocationID(target))
	}
	index, err := strconv.ParseInt(target, 10, 64)
	if err != nil || index < 0 || strconv.FormatInt(index, 10) != target {
		return badTarget()
	}
	return w.index(index)
}

func badTarget() error {
	return fault.New("why: walk", fault.Invalid, "a target is a log index, head, a ref, an invocation id or the name of an intent")
}

// index walks from an entry; one that is there but damaged is a broken step.
func (w *walker) index(index int64) error {
	e, err := w.r.Entry(w.ctx, index)
	if fault.Is(err, fault.Corrupt) {
		w.fail("entry", "", err)
		return nil
	}
	if err != nil {
		return err
	}
	w.entry(e)
	return nil
}

func (w *walker) invocation(id store.InvocationID) error {
	e, err := w.r.EntryOf(w.ctx, id)
	if err == nil {
		w.entry(e)
		return nil
	}
	if !fault.Is(err, fault.NotFound) {
		return err
	}
	c, err := w.r.Claim(w.ctx, id)
	if err != nil {
		return err
	}
	w.claim(c)
	return nil
}

func (w *walker) intent(name string) error {
	episode, ordinal, err := store.ParseIntentName(name)
	if err != nil {
		return badTarget()
	}
	i, err := w.r.Intent(w.ctx, episode, ordinal)
	if err != nil {
		return err
	}
	return w.invocation(i.Invocation)
}
