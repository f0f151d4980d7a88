package postgres

import (
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"world/broker/law"
	"world/store"
	"world/store/rows"
)

// nowMicros is the database's clock in microseconds of the unix epoch.
const nowMicros = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

// wants names what a transaction locks and reads. A zero one wants nothing.
type wants struct {
	leases   map[store.EpisodeID]bool // locked
	holders  bool                     // with the leases, the rows of the writers who have them, locked
	head     bool                     // locked
	spend    map[spendKey]bool
	next     map[store.EpisodeID]bool
	claims   map[store.InvocationID]bool
	intents  map[intentKey]bool
	objects  map[store.Ref]bool
	sessions map[store.CredentialID]bool
	callers  map[store.CredentialID]bool // whose sessions calls stand on
	mints    bool
	registry map[string]bool
	ends     map[store.EpisodeID]bool // what would keep them from ending
	recalled bool                     // objects need not be named: the view looks for them itself
}

func want[K comparable](set *map[K]bool, keys ...K) {
	if *set == nil {
		*set = map[K]bool{}
	}
	for _, k := range keys {
		(*set)[k] = true
	}
}

// host reports whether an act of the host wants something that calls do not.
func (w *wants) host() bool { return w.mints || len(w.sessions)+len(w.registry)+len(w.ends) > 0 }

func (w *wants) refs(named []store.Ref, objects []store.Object) {
	if w.recalled {
		return
	}
	want(&w.objects, named...)
	for _, o := range objects {
		want(&w.objects, o.Ref())
	}
}

// What comes first is locked, in the order of D17, so that every later statement
// reads what no other transaction can change before this one ends.
const (
	beginStatement = "BEGIN ISOLATION LEVEL READ COMMITTED"
	lockLeases     = "SELECT " + leaseColumns + " FROM world.leases WHERE episode = ANY($1) ORDER BY episode FOR UPDATE"
	lockHolders    = "SELECT " + metaColumns + " FROM world.meta WHERE key IN (SELECT $1::text || owner FROM world.leases WHERE episode = ANY($2) AND owner <> '') " +
		"AND key <> $1::text || $3::text ORDER BY key FOR UPDATE"
	lockHead  = "SELECT " + rows.HeadColumns + " FROM world.head WHERE id = 1 FOR UPDATE"
	readClock = "SELECT " + nowMicros + ", " + rows.ClockColumns + " FROM world.clock WHERE id = 1"
	readSpend = "SELECT s.episode, s.effect, s.scope, s.total, s.ceiling, s.digest FROM unnest($1::text[], $2::text[], $3::text[]) n (episode, effect, scope) " +
		"JOIN world.spend s ON s.episode = n.episode AND s.effect = n.effect AND s.scope = n.scope"
	readNext    = "SELECT n.episode, (SELECT max(i.ordinal) + 1 FROM world.intents i WHERE i.episode = n.episode) FROM unnest($1::text[]) n (episode)"
	readClaims  = "SELECT " + rows.ClaimColumns + " FROM world.claims WHERE invocation = ANY($1)"
	readIntents = "SELECT i.episode, i.ordinal, i.invocation, i.effect, i.scope, i.cost, i.request, i.at, i.epoch, i.status, i.record, i.detail, i.outcome_at, i.reconciled, i.digest " +
		"FROM unnest($1::text[], $2::bigint[]) n (episode, ordinal) JOIN world.intents i ON i.episode = n.episode AND i.ordinal = n.ordinal"
	readObjects  = "SELECT hash, semantic_id, provenance FROM world.objects WHERE hash = ANY($1)"
	readSessions = "SELECT " + rows.SessionColumns + " FROM world.sessions WHERE credential = ANY($1)"
	readLastSeq  = "SELECT coalesce(max(seq), 0) FROM world.sessions"
	readLived    = "SELECT DISTINCT episode FROM world.sessions WHERE episode = ANY($1) AND revocation = ''::bytea"
	readRunning  = "SELECT DISTINCT i.episode FROM world.intents i JOIN world.leases l ON l.episode = i.episode AND l.epoch = i.epoch " +
		"WHERE i.episode = ANY($1) AND i.status = ''"
	readRegistry = "SELECT " + rows.RegistryColumns + " FROM world.registry WHERE name = ANY($1)"
)

// load queues the first half of a transaction: the locks and the reads. The view
// is filled when the batch is read.
func (w *wants) load(b *pgx.Batch, owner string) *view {
	v := newView(owner)
	b.Queue(beginStatement)
	if len(w.leases) > 0 {
		read(b, scanLease, func(r leaseRow, err error) { v.leases[r.Episode] = found[leaseRow]{r, err} }, lockLeases, texts(w.leases))
	}
	if w.holders {
		read(b, scanMeta, func(r metaRow, err error) { v.holders[r.key] = found[metaRow]{r, err} }, lockHolders, metaWriter, texts(w.leases), owner)
	}
	if w.head {
		read(b, func(row rows.Scanner) (store.Head, error) { return rows.ScanHead(row) },
			func(h store.Head, err error) { v.head = &found[store.Head]{h, err} }, lockHead)
	}
	read(b, func(row rows.Scanner) (at int64, err error) {
		err = rows.Whole(row, &at, func(int64) string { return "clock" }, store.ClockDigest, &v.now, &at)
		return at, err
	}, func(at int64, err error) { v.clock = found[int64]{at, err} }, readClock)
	w.loadJournal(b, v)
	w.loadHost(b, v)
	return v
}

func (w *wants) loadJournal(b *pgx.Batch, v *view) {
	if len(w.spend) > 0 {
		var episodes, effects, scopes []string
		for k := range w.spend {
			episodes, effects, scopes = append(episodes, string(k.episode)), append(effects, string(k.Effect)), append(scopes, string(k.Scope))
		}
		read(b, scanSpend, func(r spendRow, err error) { v.spend[r.key()] = found[spendRow]{r, err} }, readSpend, episodes, effects, scopes)
	}
	if len(w.next) > 0 {
		type last struct {
			episode store.EpisodeID
			next    *int64 // NULL before the first
		}
		read(b, func(row rows.Scanner) (l last, err error) { return l, row.Scan(&l.episode, &l.next) },
			func(l last, _ error) {
				v.next[l.episode] = 0
				if l.next != nil {
					v.next[l.episode] = *l.next
				}
			}, readNext, texts(w.next))
	}
	if len(w.claims) > 0 {
		read(b, rows.ScanClaim, func(c store.Claim, err error) { v.claims[c.Invocation] = found[store.Claim]{c, err} }, readClaims, texts(w.claims))
	}
	if len(w.intents) > 0 {
		var episodes []string
		var ordinals []int64
		for k := range w.intents {
			episodes, ordinals = append(episodes, string(k.episode)), append(ordinals, k.ordinal)
		}
		read(b, rows.ScanIntent, func(i store.Intent, err error) {
			v.intents[intentKey{i.Episode, i.Ordinal}] = found[store.Intent]{i, err}
		}, readIntents, episodes, ordinals)
	}
}

func (w *wants) loadHost(b *pgx.Batch, v *view) {
	if len(w.objects) > 0 {
		hashes := make([][]byte, 0, len(w.objects))
		for r := range w.objects {
			hashes = append(hashes, rows.Blob(r))
		}
		b.Queue(readObjects, hashes).Query(func(r pgx.Rows) error {
			for r.Next() {
				var ref store.Ref
				var first store.Label
				if err := r.Scan(rows.Ref(&ref), &first.SemanticID, &first.Provenance); err != nil {
					return rows.Damaged("an object does not decode")
				}
				v.objects[ref] = first
			}
			return r.Err()
		})
	}
	for _, credentials := range []map[store.CredentialID]bool{w.sessions, w.callers} {
		if len(credentials) > 0 {
			read(b, rows.ScanSession, func(s rows.Session, err error) { v.sessions[s.Credential] = found[rows.Session]{s, err} }, readSessions, texts(credentials))
		}
	}
	if w.mints {
		b.Queue(readLastSeq).QueryRow(func(row pgx.Row) error { return row.Scan(&v.lastSeq) })
	}
	if len(w.ends) > 0 {
		read(b, scanEpisode, func(e store.EpisodeID, _ error) { v.lived[e] = true }, readLived, texts(w.ends))
		read(b, scanEpisode, func(e store.EpisodeID, _ error) { v.running[e] = true }, readRunning, texts(w.ends))
	}
	if len(w.registry) > 0 {
		read(b, rows.ScanRegistry, func(m store.HeadMove, err error) { v.registry[m.Name] = found[store.HeadMove]{m, err} }, readRegistry, texts(w.registry))
	}
}

func scanEpisode(row rows.Scanner) (e store.EpisodeID, err error) { return e, row.Scan(&e) }

// read queues a query whose rows go to keep, damaged ones with their error. A row
// that does not even decode ends the query.
func read[T any](b *pgx.Batch, scan func(rows.Scanner) (T, error), keep func(T, error), query string, args ...any) {
	b.Queue(query, args...).Query(func(r pgx.Rows) error {
		for r.Next() {
			v, err := scan(r)
			if r.Err() != nil {
				return err
			}
			keep(v, err)
		}
		return r.Err()
	})
}

// texts are the keys of a set in order: locks are taken in this order.
func texts[K ~string](set map[K]bool) []string {
	list := make([]string, 0, len(set))
	for _, k := range slices.Sorted(maps.Keys(set)) {
		list = append(list, string(k))
	}
	return list
}

// spendOf is the key of a running total.
func spendOf(episode store.EpisodeID, effect law.Effect, scope law.Scope) spendKey {
	return spendKey{episode, store.Spent{Effect: effect, Scope: scope}}
}
