package postgres

import (
	"context"

	"world/fault"
	"world/store"
	"world/store/rows"
)

// Claim implements store.Reader.
func (s *Store) Claim(ctx context.Context, id store.InvocationID) (store.Claim, error) {
	return one(ctx, s, "postgres: claim", rows.ScanClaim, "SELECT "+rows.ClaimColumns+" FROM world.claims WHERE invocation = $1", string(id))
}

// Ledger implements store.Reader.
func (s *Store) Ledger(ctx context.Context, episode store.EpisodeID) (l store.Ledger, err error) {
	const op = "postgres: ledger"
	known, ok, keep := s.ledgerAt(episode)
	if ok && ctx.Err() == nil {
		return known, nil
	}
	if err = s.ask(ctx, op, ledgerQuery(&l, episode)); err == nil {
		keep(l)
	}
	return l, err
}

// ledgerQuery reads an episode's spend: one statement reads one state.
func ledgerQuery(l *store.Ledger, episode store.EpisodeID) query {
	return query{begin: func() { *l = store.Ledger{Episode: episode} }, row: func(row rows.Scanner) error {
		var spent ledgerRow
		if err := spent.scan(row); err != nil {
			return err
		}
		l.Next = spent.next
		if spent.present {
			l.Spent = append(l.Spent, spent.row.spent)
		}
		return nil
	}, args: []any{string(episode)}, sql: "SELECT n.next, s.episode IS NOT NULL, coalesce(s.episode, ''), coalesce(s.effect, ''), coalesce(s.scope, ''), coalesce(s.total, 0), coalesce(s.ceiling, 0), coalesce(s.digest, '') " +
		"FROM (SELECT coalesce(max(ordinal) + 1, 0) AS next FROM world.intents WHERE episode = $1) n " +
		"LEFT JOIN world.spend s ON s.episode = $1 ORDER BY s.effect, s.scope"}
}

// ledgerRow is a running total beside the episode's next ordinal.
type ledgerRow struct {
	next    int64
	present bool // false: nothing was spent yet, and there is no total
	row     spendRow
}

func (l *ledgerRow) scan(row rows.Scanner) error {
	r := &l.row
	err := rows.Whole(row, r, spendWhere, spendRow.digest, &l.next, &l.present, &r.episode, &r.spent.Effect, &r.spent.Scope, &r.spent.Total, &r.ceiling)
	if err != nil && !l.present && r.episode == "" {
		return nil
	}
	return err
}

// Intent implements store.Reader.
func (s *Store) Intent(ctx context.Context, episode store.EpisodeID, ordinal int64) (store.Intent, error) {
	return one(ctx, s, "postgres: intent", rows.ScanIntent,
		"SELECT "+rows.IntentColumns+" FROM world.intents WHERE episode = $1 AND ordinal = $2", string(episode), ordinal)
}

// Intents implements store.Reader.
func (s *Store) Intents(ctx context.Context, episode store.EpisodeID, from int64, limit int) ([]store.Intent, error) {
	const op = "postgres: intents"
	if err := store.CheckLimit(op, limit); err != nil {
		return nil, err
	}
	return many(ctx, s, op, rows.ScanIntent,
		"SELECT "+rows.IntentColumns+" FROM world.intents WHERE episode = $1 AND ordinal >= $2 ORDER BY ordinal LIMIT $3", string(episode), from, limit)
}

// IntentOf implements store.Reader.
func (s *Store) IntentOf(ctx context.Context, id store.InvocationID) (store.Intent, error) {
	return one(ctx, s, "postgres: intent of", rows.ScanIntent, "SELECT "+rows.IntentColumns+" FROM world.intents WHERE invocation = $1", string(id))
}

// Indeterminate implements store.Reader. An epoch whose lease has ended is not
// current: its holder can write no outcome any more.
func (s *Store) Indeterminate(ctx context.Context, limit int) ([]store.Intent, error) {
	const op = "postgres: indeterminate"
	if err := store.CheckLimit(op, limit); err != nil {
		return nil, err
	}
	return many(ctx, s, op, rows.ScanIntent, "SELECT "+rows.IntentColumns+" FROM world.intents i WHERE "+unsettled+
		" AND (status = 'indeterminate' OR NOT EXISTS (SELECT 1 FROM world.leases l WHERE l.episode = i.episode AND l.epoch = i.epoch AND l.until > "+nowMicros+"))"+
		" ORDER BY at, episode, ordinal LIMIT $1", limit)
}

const sessionQuery = "SELECT " + rows.SessionColumns + " FROM world.sessions WHERE credential = $1"

// Session implements store.Reader.
func (s *Store) Session(ctx context.Context, id store.CredentialID) (store.Session, error) {
	r, err := s.session(ctx, "postgres: session", id)
	return r.Session, err
}

func (s *Store) session(ctx context.Context, op string, id store.CredentialID) (rows.Session, error) {
	r, err := one(ctx, s, op, rows.ScanSession, sessionQuery, string(id))
	if fault.Is(err, fault.NotFound) {
		err = fault.New(op, fault.NotFound, "no such session")
	}
	return r, err
}

// Sessions implements store.Reader. A session's place never changes, so that the
// two reads need no common state.
func (s *Store) Sessions(ctx context.Context, after store.CredentialID, limit int) ([]store.Session, error) {
	const op = "postgres: sessions"
	if err := store.CheckLimit(op, limit); err != nil {
		return nil, err
	}
	var last rows.Session
	if after != "" {
		var err error
		if last, err = s.session(ctx, op, after); err != nil {
			return nil, err
		}
	}
	return many(ctx, s, op, func(row rows.Scanner) (store.Session, error) {
		r, err := rows.ScanSession(row)
		return r.Session, err
	}, "SELECT "+rows.SessionColumns+" FROM world.sessions WHERE seq > $1 ORDER BY seq LIMIT $2", last.Seq, limit)
}

const registryQuery = "SELECT " + rows.RegistryColumns + " FROM world.registry WHERE name = $1"

// Registry implements store.Reader.
func (s *Store) Registry(ctx context.Context, name string) (store.Ref, error) {
	m, err := one(ctx, s, "postgres: registry", rows.ScanRegistry, registryQuery, name)
	return m.To, err
}
