package fsck

import (
	"errors"
	"iter"

	"world/store"
	"world/store/record"
)

// Objects and log are read side by side: an entry is judged once the objects that
// it is decided by have gone past, so that no record is fetched or decoded twice.
// What else an entry names may come later, and is looked for at the end.
type beside struct {
	*checker
	next   func() (store.Row[store.Entry], error, bool)
	at     *logged    // the entry that is due
	wants  [][32]byte // objects that it waits for
	before store.Head
	failed error // what kept the log from being read to its end
	recent kept
}

// logged is an entry with what it leads to, when it is of a call.
type logged struct {
	row store.Row[store.Entry]
	led ledTo
	evidence
}

// ledTo is how far an entry has been followed.
type ledTo int

const (
	toNothing ledTo = iota
	toCall
	toEffects
)

// ofCall reports whether a whole row is the entry of a transition's call.
func ofCall(r store.Row[store.Entry]) bool {
	return r.Fault == nil && r.Value.Invocation != "" && !record.IsCommit(r.Value)
}

// objects re-hashes every object, decodes those that are records, and re-derives
// the log: its chain, what each entry names, and what it is about.
func (c *checker) objects() error {
	b := &beside{checker: c, before: store.Void, recent: kept{records: map[store.Ref]any{}}}
	next, stop := iter.Pull2(c.entries())
	defer stop()
	b.next = next
	// These are bounded later than the log, so that all of what it names is there.
	late, err := c.from.Audit(c.ctx)
	if err != nil {
		return err
	}
	defer late.Close()
	ahead := newAhead((*judged).judge, b.object)
	err = ahead.end(late.Objects(c.ctx, func(r store.Row[store.StoredObject]) error {
		return ahead.add(judged{row: r}, len(r.Value.Bytes))
	}))
	c.complete = true
	b.advance()
	if b.failed != nil {
		c.find("log", "cannot be read to its end: %s", why(b.failed))
	} else if headErr := c.head(b.before); err == nil {
		err = headErr
	}
	return err
}

var errStopped = errors.New("nobody reads on")

// entries is the log as a sequence; an error ends it.
func (c *checker) entries() iter.Seq2[store.Row[store.Entry], error] {
	return func(yield func(store.Row[store.Entry], error) bool) {
		err := c.audit.Entries(c.ctx, func(r store.Row[store.Entry]) error {
			if !yield(r, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(store.Row[store.Entry]{}, err)
		}
	}
}

// object takes one judged object, and judges the entries that are due by it.
func (b *beside) object(o *judged) error {
	b.checker.object(o)
	if o.record != nil {
		b.recent.put(o.row.Value.Ref, o.record, len(o.row.Value.Bytes))
	}
	b.advance()
	return nil
}

// advance judges entries for as long as one is due.
func (b *beside) advance() {
	for b.due() {
		l := b.at
		b.at = nil
		b.link(l.row.Where, b.before, l.row.Value)
		b.before = l.row.Value.Head()
		b.entry(l)
	}
}

// due reports whether there is an entry whose evidence has gone past. At the end
// every entry is due.
func (b *beside) due() bool {
	for {
		for len(b.wants) > 0 {
			if _, there := b.known[b.wants[0]]; !there && !b.complete {
				return false
			}
			b.wants = b.wants[1:]
		}
		switch l := b.at; {
		case l == nil:
			row, err, more := b.next()
			if !more || err != nil {
				b.failed = errors.Join(b.failed, err)
				return false
			}
			b.at = &logged{row: row}
			if ofCall(row) {
				b.want(row.Value.Transition)
			}
		case ofCall(l.row) && l.led == toNothing:
			l.call = held(b, l.row.Value.Transition, record.DecodeInvocation)
			l.led = toCall
			for _, x := range l.call.record.Effects {
				b.want(x.Request)
				b.want(x.Record)
			}
		case l.led == toCall:
			b.lead(l)
			l.led = toEffects
		default:
			return true
		}
	}
}

// want lets the entry wait for an object, if the ref is one.
func (b *beside) want(r store.Ref) {
	if _, err := store.ParseRef(string(r)); err == nil {
		b.wants = append(b.wants, r.Sum())
	}
}

// lead takes what the effects of a call rest on.
func (b *beside) lead(l *logged) {
	for _, x := range l.call.record.Effects {
		l.requests = append(l.requests, held(b, x.Request, record.DecodeRequest))
		var r read[record.EffectRecord]
		if x.Record != "" {
			r = held(b, x.Record, record.DecodeEffect)
		}
		l.records = append(l.records, r)
	}
}

func (c *checker) entry(l *logged) {
	r, e := l.row, l.row.Value
	whole := c.row("log", r.Where, &c.report.Entries, r.Fault)
	if e.Index > 0 { // genesis alone may name what is not stored (D9)
		c.names(r.Where, "transitionFn", e.TransitionFn)
		c.names(r.Where, "interpreter", e.Interpreter)
		c.names(r.Where, "transition", e.Transition)
		c.names(r.Where, "stateRoot", e.StateRoot)
	}
	switch {
	case !whole:
	case record.IsCommit(e):
		c.committed(r.Where, e)
	case e.Invocation != "":
		c.finished(r.Where, e, l.evidence)
	default:
		c.act(r.Where, e)
	}
}

// Bounds of what is kept.
const (
	keptRecords = 16 << 10
	keptBytes   = 32 << 20
)

// kept are the records that went past last.
type kept struct {
	records map[store.Ref]any
	order   []store.Ref // oldest first
	sizes   []int       // bytes, of each
	bytes   int
}

func (k *kept) put(r store.Ref, v any, size int) {
	k.records[r] = v
	k.order, k.sizes = append(k.order, r), append(k.sizes, size)
	for k.bytes += size; len(k.order) > keptRecords || k.bytes > keptBytes; k.order, k.sizes = k.order[1:], k.sizes[1:] {
		delete(k.records, k.order[0])
		k.bytes -= k.sizes[0]
	}
}

// held is a record that went past, or one that is fetched.
func held[T any](b *beside, r store.Ref, decode func([]byte) (T, error)) read[T] {
	if v, ok := b.recent.records[r].(T); ok {
		return read[T]{record: v}
	}
	return decoded(b.checker, r, decode)
}
