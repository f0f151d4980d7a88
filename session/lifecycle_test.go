package session_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"path/filepath"
	"testing"
	"time"

	"world/coordinator/registry"
	"world/fault"
	"world/session"
	"world/store"
	"world/store/record"
	"world/store/sqlite"
)

const born = 1_000_000 // logical time of genesis

// office opens an office on a real store with a genesis.
func office(t *testing.T) session.Office {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "world.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := registry.Bootstrap(t.Context(), s, nil, []byte("interpreter"), born); err != nil {
		t.Fatal(err)
	}
	return session.Office{Store: s, Draft: func(ctx context.Context, verb string, about store.Ref) (store.Draft, error) {
		return registry.HostDraft(ctx, s, verb, about)
	}}
}

func terms(t *testing.T, episode store.EpisodeID, ttl int64) session.Terms {
	t.Helper()
	grants, err := session.SeTools.Expand(50)
	if err != nil {
		t.Fatal(err)
	}
	return session.Terms{Episode: episode, Grants: grants, TTL: ttl}
}

func mint(t *testing.T, o session.Office, terms session.Terms, now int64) session.Minted {
	t.Helper()
	m, err := o.Mint(t.Context(), terms, now)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMintLeavesEvidenceAndNoCredential(t *testing.T) {
	o := office(t)
	m := mint(t, o, terms(t, "ep", 60), born)

	object, err := o.Store.Object(t.Context(), m.Object)
	if err != nil {
		t.Fatal(err)
	}
	r, err := record.DecodeSession(object.Bytes())
	if err != nil || r.Credential != m.Token.ID() || r.Episode != "ep" || r.CreatedAt != born ||
		r.ExpiresAt != born+60 || len(r.Grants) != 6 {
		t.Errorf("the session object says %+v, %v", r, err)
	}
	if object.Label().SemanticID != record.Session {
		t.Errorf("the session object is labelled %+v", object.Label())
	}
	entry, err := o.Store.EntryAbout(t.Context(), m.Object)
	if err != nil || entry != m.Entry || entry.Index != 1 || entry.WrittenBy != "host:session-mint" {
		t.Errorf("the mint's entry is %+v, %v", entry, err)
	}
	if bytes.Contains(object.Bytes(), []byte(m.Token.Reveal())) {
		t.Error("the session object holds the credential")
	}
}

func TestLiveIffBeforeExpiry(t *testing.T) {
	o := office(t)
	m := mint(t, o, terms(t, "ep", 60), born)
	for _, c := range []struct {
		now  int64
		want error
	}{{born, nil}, {born + 59, nil}, {born + 60, session.ErrExpired}, {born + 61, session.ErrExpired}, {math.MaxInt64, session.ErrExpired}} {
		live, err := session.Resolve(t.Context(), o.Store, m.Token, c.now)
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("at +%d: got %v, want %v", c.now-born, err, c.want)
		}
		if err == nil && (live.Object != m.Object || live.Credential != m.Token.ID() || live.Record.Episode != "ep" || live.Expired(c.now)) {
			t.Errorf("at +%d: got %+v", c.now-born, live)
		}
	}
	live, err := session.Resolve(t.Context(), o.Store, m.Token, born)
	if err != nil || live.Expired(born+59) || !live.Expired(born+60) {
		t.Errorf("a resolved session does not end at expiresAt: %v", err)
	}
	// Session and grants end in the same second: there is no session without authority.
	for _, g := range live.Record.Law() {
		if g.ExpiresAt != born+60 {
			t.Errorf("grant %s ends at +%d", g.Effect, g.ExpiresAt-born)
		}
	}
}

func TestUnknownCredential(t *testing.T) {
	o := office(t)
	mint(t, o, terms(t, "ep", 60), born)
	if _, err := session.Resolve(t.Context(), o.Store, session.NewToken(), born); !errors.Is(err, session.ErrUnknown) {
		t.Errorf("got %v", err)
	}
}

func TestRevokeEndsASessionOnceAndLeavesEvidence(t *testing.T) {
	o := office(t)
	m, other := mint(t, o, terms(t, "ep", 60), born), mint(t, o, terms(t, "ep", 60), born)
	live, err := session.Resolve(t.Context(), o.Store, m.Token, born)
	if err != nil {
		t.Fatal(err)
	}
	if err := still(t, o.Store, live); err != nil {
		t.Errorf("before: %v", err)
	}
	entry, err := o.Revoke(t.Context(), m.Token.ID(), born+1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.Resolve(t.Context(), o.Store, m.Token, born+1); !errors.Is(err, session.ErrUnknown) {
		t.Errorf("resolve after: %v", err)
	}
	if err := still(t, o.Store, live); !errors.Is(err, session.ErrUnknown) {
		t.Errorf("still live after: %v", err)
	}
	if _, err := session.Resolve(t.Context(), o.Store, other.Token, born+1); err != nil {
		t.Errorf("the other session of the episode: %v", err)
	}
	object, err := o.Store.Object(t.Context(), entry.Transition)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := record.DecodeRevocation(object.Bytes()); err != nil || r.Session != m.Object || r.At != born+1 {
		t.Errorf("the revocation object says %+v, %v", r, err)
	}
	if _, err := o.Revoke(t.Context(), m.Token.ID(), born+2); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second time: %v", err)
	}
	if _, err := o.Revoke(t.Context(), session.NewToken().ID(), born+2); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown id: %v", err)
	}
}

func TestRevokeEpisodeEndsEachOfItsSessions(t *testing.T) {
	o := office(t)
	first, gone := mint(t, o, terms(t, "ep", 60), born), mint(t, o, terms(t, "ep", 60), born)
	second, other := mint(t, o, terms(t, "ep", 1), born), mint(t, o, terms(t, "ep2", 60), born)
	if _, err := o.Revoke(t.Context(), gone.Token.ID(), born); err != nil {
		t.Fatal(err)
	}
	ids, err := o.RevokeEpisode(t.Context(), "ep", born+1)
	if err != nil || len(ids) != 2 || ids[0] != first.Token.ID() || ids[1] != second.Token.ID() {
		t.Fatalf("got %v, %v", ids, err)
	}
	head, err := o.Store.Head(t.Context())
	if err != nil || head.Index != 7 { // genesis, four mints, one and two revocations
		t.Errorf("the head is at %d, %v", head.Index, err)
	}
	if _, err := session.Resolve(t.Context(), o.Store, other.Token, born+1); err != nil {
		t.Errorf("another episode's session: %v", err)
	}
	if _, err := o.RevokeEpisode(t.Context(), "ep", born+1); !fault.Is(err, fault.NotFound) {
		t.Errorf("a second time: %v", err)
	}
}

func TestMintRefusesAndWritesNothing(t *testing.T) {
	o := office(t)
	good := terms(t, "ep", 60)
	for name, c := range map[string]struct {
		change func(*session.Terms)
		now    int64
	}{
		"no episode":   {func(x *session.Terms) { x.Episode = "" }, born},
		"bad episode":  {func(x *session.Terms) { x.Episode = "Ep" }, born},
		"no grants":    {func(x *session.Terms) { x.Grants = nil }, born},
		"duplicate":    {func(x *session.Terms) { x.Grants = append(x.Grants, x.Grants[0]) }, born},
		"no ttl":       {func(x *session.Terms) { x.TTL = 0 }, born},
		"negative ttl": {func(x *session.Terms) { x.TTL = -1 }, born},
		"long ttl":     {func(x *session.Terms) { x.TTL = session.MaxTTL + 1 }, born},
		"before time":  {func(x *session.Terms) {}, -1},
		"beyond time":  {func(x *session.Terms) {}, math.MaxInt64},
	} {
		bad := good
		bad.Grants = append([]record.SessionGrant(nil), good.Grants...)
		c.change(&bad)
		if _, err := o.Mint(t.Context(), bad, c.now); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if head, err := o.Store.Head(t.Context()); err != nil || head.Index != 0 {
		t.Errorf("a refused mint moved the head to %d, %v", head.Index, err)
	}
	mint(t, o, good, born) // the good terms are good
}

func TestEachVisitsEverySessionInMintOrder(t *testing.T) {
	o := office(t)
	var want []store.CredentialID
	for range 3 {
		want = append(want, mint(t, o, terms(t, "ep", 60), born).Token.ID())
	}
	var got []store.CredentialID
	collect := func(s store.Session) error { got = append(got, s.Credential); return nil }
	if err := session.Each(t.Context(), o.Store, collect); err != nil || len(got) != 3 || got[0] != want[0] || got[2] != want[2] {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	stop := errors.New("stop")
	if err := session.Each(t.Context(), o.Store, func(store.Session) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the visitor's error is lost: %v", err)
	}
}

func TestLogicalTimeNeverGoesBack(t *testing.T) {
	o := office(t)
	mint(t, o, terms(t, "ep", 60), born+10)
	for wall, want := range map[int64]int64{born - 500: born + 10, born + 10: born + 10, born + 11: born + 11} {
		if got, err := session.Now(t.Context(), o.Store, time.Unix(wall, 0)); err != nil || got != want {
			t.Errorf("with the wall clock at +%d: got +%d, %v", wall-born, got-born, err)
		}
	}
}

// A row that names another session's object must not lend its grants.
func TestRowAndObjectMustAgree(t *testing.T) {
	o := office(t)
	m, wide := mint(t, o, terms(t, "ep", 60), born), mint(t, o, terms(t, "ep2", 6000), born)
	if _, err := session.Resolve(t.Context(), o.Store, m.Token, born); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*store.Session){
		"object":     func(s *store.Session) { s.Object = wide.Object },
		"credential": func(s *store.Session) { s.Credential = wide.Token.ID() },
		"episode":    func(s *store.Session) { s.Episode = "ep2" },
		"expiry":     func(s *store.Session) { s.ExpiresAt++ },
		"created":    func(s *store.Session) { s.CreatedAt-- },
		"dangling":   func(s *store.Session) { s.Object = store.RefOf([]byte("nothing")) },
		"no session": func(s *store.Session) { s.Object = m.Entry.TransitionFn },
	} {
		tampered := tamper{o.Store, change}
		if _, err := session.Resolve(t.Context(), tampered, m.Token, born); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%s: got %v, want corrupt", name, err)
		}
	}
	live, err := session.Resolve(t.Context(), o.Store, m.Token, born)
	if err != nil {
		t.Fatal(err)
	}
	moved := tamper{o.Store, func(s *store.Session) { s.Object = wide.Object }}
	if err := still(t, moved, live); !fault.Is(err, fault.Corrupt) {
		t.Errorf("still live on another object: got %v", err)
	}
}

// still holds a session against its row as it is now.
func still(t *testing.T, r store.Reader, live session.Live) error {
	t.Helper()
	row, err := r.Session(t.Context(), live.Credential)
	if err != nil {
		t.Fatal(err)
	}
	return live.Still(row)
}

// tamper is a store whose session rows were changed behind its back.
type tamper struct {
	store.Reader
	change func(*store.Session)
}

func (t tamper) Session(ctx context.Context, id store.CredentialID) (store.Session, error) {
	s, err := t.Reader.Session(ctx, id)
	t.change(&s)
	return s, err
}
