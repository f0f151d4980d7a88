package fsck

import (
	"encoding/binary"

	"world/store"
	"world/store/record"
)

// Objects and log are read side by side: an entry is judged once the objects that
// it is decided by have gone past, so that no record is fetched or decoded twice.
// What else an entry names may come later, and is looked for at the end.
type beside struct {
	*checker
	links  *links
	at     *logged    // the entry that is due, nil for one that is yet to be read
	room   logged     // where at lies
	wants  [][32]byte // objects that it waits for
	last   store.Head // of the entries that were judged
	recent kept
}

// logged is an entry with what it leads to, when it is of a call.
type logged struct {
	store.Row[store.Entry]
	link *link
	led  ledTo
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
	// These are bounded later than the log, so that all of what it names is there.
	late, err := c.from.Audit(c.ctx)
	if err != nil {
		return err
	}
	defer late.Close()
	b := &beside{checker: c, last: store.Void, links: readLinks(c.ctx, c.audit)}
	defer b.links.stop()
	c.look = late // the other reads the log
	defer func() { c.look = c.audit }()
	ahead := newAhead((*judged).judge, b.object)
	err = ahead.end(late.Objects(c.ctx, func(r store.Row[store.StoredObject]) error {
		return ahead.add(judged{row: r}, len(r.Value.Bytes))
	}))
	c.complete = true
	b.advance()
	if b.links.err != nil {
		c.find("log", "cannot be read to its end: %s", why(b.links.err))
	} else if headErr := c.head(b.last); err == nil {
		err = headErr
	}
	return err
}

// object takes one judged object, and judges the entries that are due by it.
func (b *beside) object(o *judged) error {
	b.checker.object(o)
	if o.record != nil {
		b.recent.put(&o.sum, o.record)
	}
	b.advance()
	return nil
}

// advance judges entries for as long as one is due.
func (b *beside) advance() {
	for b.due() {
		l := b.at
		b.at = nil
		b.link(l, l.link)
		b.last = l.Value.Head()
		b.entry(l)
	}
}

// due reports whether there is an entry whose evidence has gone past. At the end
// every entry is due.
func (b *beside) due() bool {
	for {
		for n := len(b.wants); n > 0; n-- {
			if !b.complete && !b.known.has(&b.wants[n-1]) {
				return false
			}
			b.wants = b.wants[:n-1]
		}
		switch l := b.at; {
		case l == nil:
			next := b.links.next()
			if next == nil {
				return false
			}
			row := next.row
			b.room = logged{Row: row, link: next, evidence: evidence{requests: b.room.requests[:0], records: b.room.records[:0]}}
			b.at = &b.room
			if ofCall(row) {
				b.want(row.Value.Transition)
			}
		case ofCall(l.Row) && l.led == toNothing:
			l.call = held(b, l.Value.Transition, record.DecodeInvocation)
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
	if sum, ok := r.Parsed(); ok {
		b.wants = append(b.wants, sum)
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
	e := l.Value
	sound := whole(c, "log", &c.report.Entries, l.Row)
	if e.Index > 0 { // genesis alone may name what is not stored (D9)
		c.names(l, "transitionFn", e.TransitionFn)
		c.names(l, "interpreter", e.Interpreter)
		c.names(l, "transition", e.Transition)
		c.names(l, "stateRoot", e.StateRoot)
	}
	switch {
	case !sound:
	case record.IsCommit(e):
		c.committed(l, e)
	case e.Invocation != "":
		c.finished(l, e, &l.evidence)
	default:
		c.act(l, e)
	}
}

// Bounds of what is kept: 32 MiB.
const (
	keptRecords = 16 << 10
	keptBytes   = 2 << 10 // of one
)

// kept are records that went past of late, each where its hash says. One that was
// written over, or that was too large, is fetched.
type kept [keptRecords]struct {
	sum    [32]byte
	record any
}

func (k *kept) put(sum *[32]byte, v any) {
	slot := &k[binary.LittleEndian.Uint16(sum[:])%keptRecords]
	slot.sum, slot.record = *sum, v
}

func (k *kept) get(r store.Ref) any {
	sum, ok := r.Parsed()
	if slot := &k[binary.LittleEndian.Uint16(sum[:])%keptRecords]; ok && slot.sum == sum {
		return slot.record
	}
	return nil
}

// held is a record that went past, or one that is fetched.
func held[T any](b *beside, r store.Ref, decode func([]byte) (T, error)) read[T] {
	if v, ok := b.recent.get(r).(T); ok {
		return read[T]{record: v}
	}
	return decoded(b.checker, r, decode)
}
