package sqlite

import "world/store"

// knownRefs is how many objects are remembered at least, of late.
const knownRefs = 4096

// known remembers objects that are stored, so that a call need not ask the
// database for its session's, its transition's and its interpreter's each time.
// That is sound because objects are never removed and never change: whether one
// is missing is always asked. What the open transaction stored is known within
// it, and forgotten unless it commits.
//
// It also remembers the head of the log and the mirror of what others read, for
// the one connection that changes them.
//
// The zero value knows nothing.
type known struct {
	young, old map[store.Ref]label // when young is full it becomes old
	open       []labelled          // of the open transaction
	place      *place              // where the next entry goes; nil when it must be read
	mirror     *mirror             // nil for a connection that does not serve callers
	news       news                // of the open transaction
}

// label is one that an object is known to have; some is false when only its
// bytes are known to be there.
type label struct {
	store.Label
	some bool
}

type labelled struct {
	ref   store.Ref
	label label
}

func (k *known) find(r store.Ref) (label, bool) {
	for i := range k.open {
		if k.open[i].ref == r {
			return k.open[i].label, true
		}
	}
	if l, ok := k.young[r]; ok {
		return l, true
	}
	l, ok := k.old[r]
	if ok {
		k.keep(r, l)
	}
	return l, ok
}

// has reports whether an object is known to be stored under its label.
func (k *known) has(o store.Object) bool {
	l, ok := k.find(o.Ref())
	return ok && l.some && l.Label == o.Label()
}

// unknown returns the refs that the database must be asked for.
func (k *known) unknown(refs []store.Ref) []store.Ref {
	ask := refs[:0:0]
	for _, r := range refs {
		if _, ok := k.find(r); !ok {
			ask = append(ask, r)
		}
	}
	return ask
}

// found notes objects that the open transaction read.
func (k *known) found(refs []store.Ref) {
	for _, r := range refs {
		k.open = append(k.open, labelled{ref: r})
	}
}

// stored notes an object that the open transaction stored, or found with its label.
func (k *known) stored(o store.Object) {
	k.open = append(k.open, labelled{o.Ref(), label{o.Label(), true}})
}

func (k *known) commit() {
	for _, l := range k.open {
		k.keep(l.ref, l.label)
	}
	if k.mirror != nil {
		k.mirror.publish(&k.news)
	}
	k.end()
}

// rollback forgets what the open transaction changed. A COMMIT whose reply was
// lost ends here too, so that the mirror forgets what may have changed.
func (k *known) rollback() {
	k.place = nil
	if k.mirror != nil {
		k.mirror.publish(&news{unknown: true})
	}
	k.end()
}

func (k *known) end() {
	clear(k.open)
	k.open = k.open[:0]
	clear(k.news.ledgers)
	k.news = news{ledgers: k.news.ledgers[:0]}
}

func (k *known) keep(r store.Ref, l label) {
	if k.young == nil || len(k.young) >= knownRefs {
		k.young, k.old = make(map[store.Ref]label, knownRefs), k.young
	}
	k.young[r] = l
}
