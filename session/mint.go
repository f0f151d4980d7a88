package session

import (
	"context"

	"world/fault"
	"world/store"
	"world/store/record"
)

const (
	// DefaultTTL is the life of a session unless said otherwise, in seconds.
	DefaultTTL = 3600
	// MaxTTL is the longest life of a session, in seconds: 366 days.
	MaxTTL = 366 * 24 * 3600
)

// provenance labels the objects of minting and revoking.
const provenance = "host:session"

// Draft prepares the log entry of a host act about an object: the coordinator's
// registry knows which transitionFn, interpreter and state root stand for the host.
type Draft func(ctx context.Context, verb string, about store.Ref) (store.Draft, error)

// Office mints and revokes. It asks nobody; package attended stands before it.
type Office struct {
	Store store.Store
	Draft Draft
}

// Terms is what is asked of a mint.
type Terms struct {
	Episode store.EpisodeID
	Grants  []record.SessionGrant
	TTL     int64 // seconds, 1 to MaxTTL; every grant ends with the session
}

// Check refuses, kind Invalid, terms that no mint may have.
func (t Terms) Check() error {
	if _, err := store.ParseEpisodeID(string(t.Episode)); err != nil {
		return err
	}
	if t.TTL < 1 || t.TTL > MaxTTL {
		return fault.New("session: check terms", fault.Invalid, "a session lives 1 to %d seconds", int64(MaxTTL))
	}
	return CheckGrants(t.Grants)
}

// Minted is a new session. Token exists nowhere else: only its hash is stored.
type Minted struct {
	Token  Token
	Object store.Ref
	Record record.SessionRecord
	Entry  store.Entry
}

// Mint draws a credential and makes it a session at now (logical unix seconds):
// one object, one row, one log entry, all or nothing. The store refuses a session
// that ends before it begins, as one beyond the end of time would.
func (o Office) Mint(ctx context.Context, t Terms, now int64) (Minted, error) {
	return o.MintAt(ctx, t, "", now)
}

// MintAt is Mint for an episode whose worktree lies with a daemon, which is the
// episode's home from then on. Conflict when another daemon is; "" leaves it as it is.
func (o Office) MintAt(ctx context.Context, t Terms, home store.HomeID, now int64) (Minted, error) {
	if err := t.Check(); err != nil {
		return Minted{}, err
	}
	m := Minted{Token: NewToken()}
	m.Record = record.SessionRecord{
		Credential: m.Token.ID(), Episode: t.Episode, Grants: t.Grants,
		CreatedAt: now, ExpiresAt: now + t.TTL, Home: home,
	}
	object := store.NewObject(record.Session, provenance, m.Record.Bytes())
	m.Object = object.Ref()
	draft, err := o.Draft(ctx, "session-mint", m.Object)
	if err != nil {
		return Minted{}, err
	}
	changes := []store.Change{store.MintSession{Session: store.Session{
		Credential: m.Record.Credential, Object: m.Object, Episode: t.Episode,
		CreatedAt: m.Record.CreatedAt, ExpiresAt: m.Record.ExpiresAt,
	}}}
	if home != "" {
		move, err := moveHome(ctx, o.Store, t.Episode, home, m.Object)
		if err != nil {
			return Minted{}, err
		}
		changes = append(changes, move)
	}
	m.Entry, err = o.Store.Act(ctx, store.Act{Objects: []store.Object{object}, Draft: draft, Changes: changes, At: now})
	if err != nil {
		return Minted{}, err
	}
	return m, nil
}
