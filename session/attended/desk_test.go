package attended_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"world/coordinator/registry"
	"world/fault"
	"world/session"
	"world/session/attended"
	"world/session/worktree"
	"world/store"
	"world/store/sqlite"
)

const born = 1_000_000

// desk opens a desk on a real store whose clock stands at born.
func desk(t *testing.T) attended.Desk {
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
	return attended.Desk{
		Office: session.Office{Store: s, Draft: func(ctx context.Context, verb string, about store.Ref) (store.Draft, error) {
			return registry.HostDraft(ctx, s, verb, about)
		}},
		Wall: func() time.Time { return time.Unix(born+5, 0) },
	}
}

func terms(t *testing.T) session.Terms {
	t.Helper()
	grants, err := session.ParseGrants([]string{"Workspace.Read=worktree:2", "Net.Get=example:443:1"})
	if err != nil {
		t.Fatal(err)
	}
	return session.Terms{Episode: "ep", Grants: grants, TTL: 60}
}

func TestMintAsksWithTheGrantsInSight(t *testing.T) {
	d := desk(t)
	terminal, h := sit(t, nil, "y\n")
	minted, err := d.Mint(t.Context(), terminal, terms(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Grants of episode ep:", "  Workspace.Read=worktree:2", "  Net.Get=example:443:1",
		"Confirm mint for episode ep (2 grant(s), expiry +60s) with a session credential? [y/N] ",
	} {
		if !strings.Contains(h.saw(), want) {
			t.Errorf("the screen does not show %q: %q", want, h.saw())
		}
	}
	live, err := session.Resolve(t.Context(), d.Office.Store, minted.Token, born+5)
	if err != nil || live.Record.ExpiresAt != born+65 {
		t.Errorf("got %+v, %v", live, err)
	}
	if strings.Contains(h.saw(), minted.Token.Reveal()) {
		t.Error("the credential is on the terminal")
	}
}

func TestANoMintsNothing(t *testing.T) {
	d := desk(t)
	terminal, _ := sit(t, nil, "n\n")
	if _, err := d.Mint(t.Context(), terminal, terms(t)); !fault.Is(err, fault.Denied) {
		t.Errorf("got %v", err)
	}
	untouched(t, d)
}

func TestTheQuestionEndsInTime(t *testing.T) {
	d := desk(t)
	d.Wait = 20 * time.Millisecond
	terminal, _ := sit(t, nil, "")
	if _, err := d.Mint(t.Context(), terminal, terms(t)); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "in time") {
		t.Errorf("got %v", err)
	}
	untouched(t, d)
}

func TestBadTermsAreRefusedUnasked(t *testing.T) {
	d := desk(t)
	terminal, h := sit(t, nil, "y\n")
	bad := terms(t)
	bad.Episode = "No"
	if _, err := d.Mint(t.Context(), terminal, bad); !fault.Is(err, fault.Invalid) {
		t.Errorf("got %v", err)
	}
	if saw := h.saw(); saw != "" {
		t.Errorf("a refused mint asked %q", saw)
	}
	untouched(t, d)
}

func TestNewGivesAWorktreeAndTakesItBackWhenTheMintFails(t *testing.T) {
	d := desk(t)
	d.Root = worktree.Root(t.TempDir())
	q := worktree.Request{Repository: repository(t), Episode: "ep"}
	honest := d.Office.Draft
	d.Office.Draft = func(ctx context.Context, verb string, about store.Ref) (store.Draft, error) {
		if _, err := os.Stat(d.Root.Path("ep")); err != nil {
			t.Errorf("the mint comes before the worktree: %v", err)
		}
		return store.Draft{}, fault.New("test: draft", fault.Unavailable, "no draft")
	}
	terminal, _ := sit(t, nil, "y\n")
	if _, _, err := d.New(t.Context(), terminal, terms(t), q); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(d.Root.Path("ep")); !os.IsNotExist(err) {
		t.Errorf("the worktree of a failed mint stays: %v", err)
	}
	untouched(t, d)

	d.Office.Draft = honest
	terminal, _ = sit(t, nil, "y\n")
	minted, tree, err := d.New(t.Context(), terminal, terms(t), q)
	if err != nil || minted.Record.Episode != "ep" || tree.Path != d.Root.Path("ep") {
		t.Fatalf("got %+v, %+v, %v", minted.Record, tree, err)
	}
	terminal, h := sit(t, nil, "y\n")
	if _, _, err := d.New(t.Context(), terminal, terms(t), q); !fault.Is(err, fault.Conflict) || h.saw() != "" {
		t.Errorf("a second worktree: got %v, the screen shows %q", err, h.saw())
	}
}

func TestRevokeTakesTheLogicalTime(t *testing.T) {
	d := desk(t)
	terminal, _ := sit(t, nil, "y\n")
	minted, err := d.Mint(t.Context(), terminal, terms(t))
	if err != nil {
		t.Fatal(err)
	}
	d.Wall = func() time.Time { return time.Unix(1, 0) } // set back
	ids, err := d.Revoke(t.Context(), minted.Record.Credential, "")
	if err != nil || len(ids) != 1 || ids[0] != minted.Record.Credential {
		t.Fatalf("got %v, %v", ids, err)
	}
	if _, err := d.Revoke(t.Context(), "", "ep"); !fault.Is(err, fault.NotFound) {
		t.Errorf("an episode without live sessions: got %v", err)
	}
	if last, err := d.Office.Store.LastTime(t.Context()); err != nil || last != born+5 {
		t.Errorf("time went to %d, %v", last, err)
	}
}

// untouched holds that the log still ends at genesis.
func untouched(t *testing.T, d attended.Desk) {
	t.Helper()
	if head, err := d.Office.Store.Head(t.Context()); err != nil || head.Index != 0 {
		t.Errorf("the log ends at %d, %v", head.Index, err)
	}
}
