package attended

import (
	"context"
	"errors"
	"fmt"
	"time"

	"world/confine"
	"world/fault"
	"world/session"
	"world/session/worktree"
	"world/store"
)

// AnswerTime is how long a question waits at the terminal.
const AnswerTime = 60 * time.Second

// actTime bounds the writing of a mint or revocation, in wall time.
const actTime = 10 * time.Second

// Desk is where an operator's word is taken and carried out: the daemon's, or
// the command line's own while no daemon holds the store.
type Desk struct {
	Office session.Office
	Root   worktree.Root    // "" when this desk gives no worktrees
	Home   store.HomeID     // daemon by whose state directory they lie
	Jail   *confine.Jail    // where worktrees are compared; nil leaves what changed unknown
	Wall   func() time.Time // the wall clock
	Wait   time.Duration    // for an answer; AnswerTime when 0

	// Forget takes away what is kept for calls of an episode, which has ended; nil
	// when nothing is. It may be told of an episode twice.
	Forget func(store.EpisodeID) error
}

// Mint asks at the terminal and mints.
func (d Desk) Mint(ctx context.Context, t *Terminal, terms session.Terms) (session.Minted, error) {
	if err := errors.Join(terms.Check(), session.CheckOpen(ctx, d.Office.Store, terms.Episode)); err != nil {
		return session.Minted{}, err
	}
	if err := d.confirm(ctx, t, terms); err != nil {
		return session.Minted{}, err
	}
	return d.mint(ctx, terms, "")
}

// New asks at the terminal, adds a worktree and mints. What can be refused is
// refused before the question; a mint that fails takes the worktree away again.
func (d Desk) New(ctx context.Context, t *Terminal, terms session.Terms, q worktree.Request) (session.Minted, worktree.Worktree, error) {
	fail := func(err error) (session.Minted, worktree.Worktree, error) {
		return session.Minted{}, worktree.Worktree{}, err
	}
	if d.Root == "" {
		return fail(fault.New("attended: new session", fault.Invalid, "there is no workspace root; name one with --workspace-root"))
	}
	if err := errors.Join(terms.Check(), d.Root.Check(ctx, q), session.CheckOpen(ctx, d.Office.Store, terms.Episode),
		session.CheckHome(ctx, d.Office.Store, terms.Episode, d.Home)); err != nil {
		return fail(err)
	}
	if err := d.confirm(ctx, t, terms); err != nil {
		return fail(err)
	}
	tree, err := d.Root.Add(ctx, q)
	if err != nil {
		return fail(err)
	}
	minted, err := d.mint(ctx, terms, d.Home)
	if err != nil {
		return fail(errors.Join(err, tree.Remove(ctx)))
	}
	return minted, tree, nil
}

// Revoke ends the session of a credential id or, with an episode instead, all of
// the episode's. It needs no terminal: it takes authority away.
func (d Desk) Revoke(ctx context.Context, id store.CredentialID, episode store.EpisodeID) ([]store.CredentialID, error) {
	ctx, cancel := context.WithTimeout(ctx, actTime)
	defer cancel()
	now, err := session.Now(ctx, d.Office.Store, d.Wall())
	if err != nil {
		return nil, err
	}
	if episode != "" {
		return d.Office.RevokeEpisode(ctx, episode, now)
	}
	if _, err := d.Office.Revoke(ctx, id, now); err != nil {
		return nil, err
	}
	return []store.CredentialID{id}, nil
}

// mint takes the time after the answer: a session's life starts when it is made.
func (d Desk) mint(ctx context.Context, terms session.Terms, home store.HomeID) (session.Minted, error) {
	ctx, cancel := context.WithTimeout(ctx, actTime)
	defer cancel()
	now, err := session.Now(ctx, d.Office.Store, d.Wall())
	if err != nil {
		return session.Minted{}, err
	}
	return d.Office.MintAt(ctx, terms, home, now)
}

func (d Desk) confirm(ctx context.Context, t *Terminal, terms session.Terms) error {
	notice := []string{"Grants of episode " + string(terms.Episode) + ":"}
	for _, g := range terms.Grants {
		notice = append(notice, "  "+session.FormatGrant(g))
	}
	return d.ask(ctx, t, notice, fmt.Sprintf(
		"Confirm mint for episode %s (%d grant(s), expiry +%ds) with a session credential? [y/N] ",
		terms.Episode, len(terms.Grants), terms.TTL))
}

// ask puts a question and waits for its yes.
func (d Desk) ask(ctx context.Context, t *Terminal, notice []string, question string) error {
	wait := d.Wait
	if wait == 0 {
		wait = AnswerTime
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return t.Confirm(ctx, notice, question)
}
