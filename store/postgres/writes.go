package postgres

import (
	"slices"
	"strings"

	"world/store"
	"world/store/rows"
)

// writes are the rows that a transaction changes.
type writes struct {
	until    int64                 // when the first of the leases ends that this stands on, 0 for none
	callers  map[rows.Session]bool // sessions that must still be as they are
	leases   changes[leaseRow]
	deposed  changes[metaRow] // rows of writers whose leases this takes
	spend    changes[spendRow]
	claims   []store.Claim
	objects  []store.Object // new
	labels   []store.Object // there under another label
	opened   []store.Intent
	closed   changes[store.Intent]
	entries  []store.Entry
	headWas  *store.Head
	sessions changes[rows.Session]
	registry changes[store.HeadMove]
	clock    int64 // 0 when it does not move
	several  bool  // changes make them, so that rows are written as many even if they are few
}

// changes are rows of one table that become something else, each once.
type changes[T any] struct {
	list []changed[T]
	at   map[any]int // by key
}

type changed[T any] struct {
	was *T // as it was read, nil for a new row
	is  T
}

// set changes a row, which the transaction may have changed before.
func (c *changes[T]) set(key any, was *T, is T) {
	if i, ok := c.at[key]; ok {
		c.list[i].is = is
		return
	}
	if c.at == nil {
		c.at = map[any]int{}
	}
	c.at[key] = len(c.list)
	c.list = append(c.list, changed[T]{was, is})
}

// fence makes it a condition of the transaction that a lease has not ended.
func (w *writes) fence(r leaseRow) {
	if w.until == 0 || r.until < w.until {
		w.until = r.until
	}
}

// none reports whether there is nothing to write.
func (w *writes) none() bool {
	return len(w.leases.list)+len(w.spend.list)+len(w.claims)+len(w.objects)+len(w.labels)+len(w.opened)+
		len(w.closed.list)+len(w.entries)+len(w.sessions.list)+len(w.registry.list) == 0 && w.clock == 0
}

// runningCondition is that no lease has ended which the transaction stands on. That
// none was taken by another process needs no look at its row: who takes a lease
// changes the row of the writer that had it, which is a guard of every transaction.
const runningCondition = "$1::bigint > " + nowMicros

const callersStatement = "SELECT 1 FROM (SELECT unnest($1::text[]) AS credential, unnest($2::bytea[]) AS digest) n JOIN world.sessions s " +
	"ON s.credential = n.credential AND s.digest = n.digest"

const callerCondition = "EXISTS (SELECT 1 FROM world.sessions s WHERE s.credential = $1::text AND s.digest = $2::bytea)"

const labelStatement = "INSERT INTO world.labels (hash, semantic_id, provenance, digest) " +
	"SELECT * FROM unnest($1::bytea[], $2::text[], $3::text[], $4::bytea[]) ON CONFLICT (hash, semantic_id, provenance) DO NOTHING"

const clockStatement = "UPDATE world.clock SET at = $1, digest = $2 WHERE id = 1 AND at < $1"

// parts are the statements that make every change: guards first, in the order in
// which all transactions lock, and rows of one table in the order of their keys,
// so that no two transactions wait for each other.
func (w *writes) parts() []part {
	var all []part
	if w.until > 0 {
		all = append(all, part{statement: runningCondition, args: []any{w.until}, condition: true})
	}
	all = append(all, w.callersPart()...)
	all = append(all, w.deposed.parts(true, metaTable, metaArgs, metaRow.digest)...)
	all = append(all, w.leases.parts(w.several, leaseTable, leaseArgs, leaseRow.digest)...)
	all = append(all, w.spend.parts(w.several, spendTable, spendArgs, spendRow.digest)...)
	all = append(all, w.headPart()...)
	slices.SortFunc(w.claims, func(x, y store.Claim) int { return compare(x.Invocation, y.Invocation) })
	all = append(all, added(w.several, claimTable, w.claims, rows.ClaimArgs)...)
	all = append(all, w.objectParts()...)
	all = append(all, added(w.several, intentTable, w.opened, rows.IntentArgs)...)
	all = append(all, w.closed.parts(w.several, intentTable, rows.IntentArgs, store.Intent.Digest)...)
	all = append(all, added(w.several, entryTable, w.entries, rows.EntryArgs)...)
	all = append(all, w.sessions.parts(w.several, sessionTable, rows.SessionArgs, rows.Session.Digest)...)
	all = append(all, w.registry.parts(w.several, registryTable, registryArgs, store.HeadMove.Digest)...)
	if w.clock > 0 {
		d := store.ClockDigest(w.clock)
		all = append(all, part{statement: clockStatement, args: []any{w.clock, d[:]}})
	}
	return all
}

// callersPart is the guard that sessions are as they were read: many, or one.
func (w *writes) callersPart() []part {
	n := len(w.callers)
	if n == 0 {
		return nil
	}
	credentials, digests := make([]string, 0, n), make([][]byte, 0, n)
	for r := range w.callers {
		d := r.Digest()
		credentials, digests = append(credentials, string(r.Credential)), append(digests, d[:])
	}
	if n == 1 && !w.several {
		return []part{{statement: callerCondition, args: []any{credentials[0], digests[0]}, condition: true}}
	}
	return []part{{statement: callersStatement, args: []any{credentials, digests}, guard: true, rows: int64(n)}}
}

func added[T any](several bool, t table, list []T, args func(T) []any) []part {
	if len(list) == 0 {
		return nil
	}
	return []part{t.adding(several, each(list, args))}
}

// objectBytes bounds the objects of one statement, in bytes; the server takes up
// to a gigabyte.
const objectBytes = 32 << 20

func (w *writes) objectParts() (all []part) {
	slices.SortFunc(w.objects, func(x, y store.Object) int { return compare(x.Ref(), y.Ref()) })
	var some [][]any
	size := 0
	for i, o := range w.objects {
		l := o.Label()
		d := store.ObjectDigest(o.Ref(), l)
		some = append(some, []any{rows.Blob(o.Ref()), l.SemanticID, l.Provenance, o.Bytes(), d[:]})
		if size += len(o.Bytes()); size >= objectBytes || i == len(w.objects)-1 {
			all = append(all, objectTable.adding(w.several, some))
			some, size = nil, 0
		}
	}
	if len(w.labels) == 0 {
		return all
	}
	slices.SortFunc(w.labels, func(x, y store.Object) int { return compare(x.Ref(), y.Ref()) })
	return append(all, part{statement: labelStatement, args: transpose(each(w.labels, func(o store.Object) []any {
		d := store.LabelDigest(o.Ref(), o.Label())
		return []any{rows.Blob(o.Ref()), o.Label().SemanticID, o.Label().Provenance, d[:]}
	}), every(4))})
}

func (w *writes) headPart() []part {
	if len(w.entries) == 0 {
		return nil
	}
	is := [][]any{append([]any{int64(1)}, rows.HeadArgs(w.entries[len(w.entries)-1].Head())...)}
	if w.headWas == nil {
		return []part{headTable.adding(false, is)}
	}
	was := w.headWas.Digest()
	return []part{headTable.comparing(false, is, [][]byte{was[:]})}
}

func (c *changes[T]) parts(several bool, t table, args func(T) []any, digest func(T) store.Digest) (all []part) {
	var added, values [][]any
	var was [][]byte
	for _, ch := range c.list {
		if ch.was == nil {
			added = append(added, args(ch.is))
			continue
		}
		d := digest(*ch.was)
		values, was = append(values, args(ch.is)), append(was, d[:])
	}
	if len(added) > 0 {
		all = append(all, t.adding(several, added))
	}
	if len(values) > 0 {
		all = append(all, t.comparing(several, values, was))
	}
	return all
}

func registryArgs(m store.HeadMove) []any {
	d := m.Digest()
	return []any{m.Name, rows.Blob(m.To), d[:]}
}

func each[T any](list []T, args func(T) []any) [][]any {
	values := make([][]any, len(list))
	for i, v := range list {
		values[i] = args(v)
	}
	return values
}

func compare[T ~string](x, y T) int { return strings.Compare(string(x), string(y)) }
