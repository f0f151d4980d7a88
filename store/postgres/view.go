package postgres

import (
	"world/fault"
	"world/store"
	"world/store/rows"
)

// found is a row as it was read: damaged rows fail those who need them alone.
type found[T any] struct {
	row T
	err error
}

type intentKey struct {
	episode store.EpisodeID
	ordinal int64
}

// view is what a transaction has locked and read, and what its changes have made
// of it so far. Changes are decided on it one after another, in memory, and then
// written together: whatever would change it in the database waits for its locks
// or fails its guards.
type view struct {
	owner    string
	now      int64 // microseconds by the database's clock
	clock    found[int64]
	head     *found[store.Head] // nil when there is no genesis
	leases   map[store.EpisodeID]found[leaseRow]
	holders  map[string]found[metaRow] // other writers, by key, who have one of the leases
	spend    map[spendKey]found[spendRow]
	next     map[store.EpisodeID]int64 // ordinals
	claims   map[store.InvocationID]found[store.Claim]
	intents  map[intentKey]found[store.Intent]
	objects  map[store.Ref]store.Label // first labels
	recalled map[store.Ref]store.Label // more of them, that the lane remembers: to be read alone
	sessions map[store.CredentialID]found[rows.Session]
	lastSeq  int64 // of sessions
	registry map[string]found[store.HeadMove]
	lived    map[store.EpisodeID]bool // have a session that is not revoked
	running  map[store.EpisodeID]bool // have an intent open under the current epoch

	predicted bool // made from memory: nothing of it is locked
	out       writes
}

func newView(owner string) *view {
	return &view{
		owner: owner, leases: map[store.EpisodeID]found[leaseRow]{}, holders: map[string]found[metaRow]{}, spend: map[spendKey]found[spendRow]{},
		next: map[store.EpisodeID]int64{}, claims: map[store.InvocationID]found[store.Claim]{},
		intents: map[intentKey]found[store.Intent]{}, objects: map[store.Ref]store.Label{},
		sessions: map[store.CredentialID]found[rows.Session]{}, registry: map[string]found[store.HeadMove]{},
		lived: map[store.EpisodeID]bool{}, running: map[store.EpisodeID]bool{},
	}
}

// stored reports whether an object is in the database or comes with a change
// decided before.
func (v *view) stored(r store.Ref) bool {
	_, ok := v.label(r)
	return ok
}

// label returns the first label of an object, if it is stored.
func (v *view) label(r store.Ref) (first store.Label, ok bool) {
	if first, ok = v.objects[r]; !ok {
		first, ok = v.recalled[r]
	}
	return first, ok
}

// require refuses a change that names an object which is not stored.
func (v *view) require(op string, named []store.Ref) error {
	for _, r := range named {
		if !v.stored(r) {
			return fault.New(op, fault.Invalid, "object %s is named but not stored", r)
		}
	}
	return nil
}

// keep stores what is new. Bytes that are there already stay as they are, and
// another label for them is added.
func (v *view) keep(objects []store.Object) {
	for _, o := range objects {
		first, ok := v.label(o.Ref())
		switch {
		case !ok:
			v.objects[o.Ref()] = o.Label()
			v.out.objects = append(v.out.objects, o)
		case first != o.Label():
			v.out.labels = append(v.out.labels, o)
		}
	}
}

// held is the fence: only the owner of a lease writes under it, under its current
// epoch and before it ends. What is written is fenced once more, see runningCondition.
func (v *view) held(op string, l store.Lease) (leaseRow, error) {
	r, ok := v.leases[l.Episode]
	switch {
	case r.err != nil:
		return r.row, r.err
	case !ok || r.row.Epoch != l.Epoch || r.row.owner != v.owner || r.row.until <= v.now:
		return r.row, fault.New(op, fault.LeaseLost, "episode %q, epoch %d", l.Episode, l.Epoch)
	}
	return r.row, nil
}

// chain appends a draft to the log and moves the head onto it.
func (v *view) chain(d store.Draft, id store.InvocationID, at int64) store.Entry {
	head := store.Void
	if v.head != nil {
		head = v.head.row
	}
	e := store.Chain(head, d, id)
	v.out.entries = append(v.out.entries, e)
	if v.out.headWas == nil && v.head != nil {
		v.out.headWas = &head
	}
	v.head = &found[store.Head]{row: e.Head()}
	v.tick(at)
	return e
}

// genesis refuses a change that needs a log before there is one.
func (v *view) genesis(op string) error {
	if v.head == nil {
		return fault.New(op, fault.NotFound, "the log has no genesis yet")
	}
	return v.head.err
}

// tick moves the greatest logical time forwards, never back.
func (v *view) tick(at int64) {
	if at > v.clock.row {
		v.clock.row, v.out.clock = at, at
	}
}
