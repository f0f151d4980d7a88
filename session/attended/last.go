package attended

import (
	"context"
	"fmt"

	"world/confine"
	"world/fault"
	"world/session"
	"world/session/worktree"
	"world/store"
	"world/store/record"
)

// last is what is known of an episode that is about to end.
type last struct {
	episode store.EpisodeID
	remove  bool
	ended   store.Ref // "" while it has not
	ledger  store.Ledger
	busy    bool               // an effect ran while this was looked at
	live    int                // sessions that are not revoked
	tree    *worktree.Worktree // nil when it has none here
	changes worktree.Changes
	unknown string // why changes are not known
}

// look finds out what there is to end.
func (d Desk) look(ctx context.Context, episode store.EpisodeID, remove bool) (last, error) {
	l := last{episode: episode, remove: remove}
	if _, err := store.ParseEpisodeID(string(episode)); err != nil {
		return l, err
	}
	var err error
	if l.ended, err = session.Ended(ctx, d.Office.Store, episode); err != nil {
		return l, err
	}
	if l.ledger, err = d.Office.Store.Ledger(ctx, episode); err != nil {
		return l, err
	}
	if l.busy, err = d.runs(ctx, l.ledger, 0); err != nil {
		return l, err
	}
	known := false
	err = session.Each(ctx, d.Office.Store, func(s store.Session) error {
		if s.Episode == episode {
			known = true
			if s.Revocation == "" {
				l.live++
			}
		}
		return nil
	})
	if err != nil {
		return l, err
	}
	if !known {
		return l, fault.New("attended: end", fault.NotFound, "there is no episode %s", episode)
	}
	if err := d.lookAtTree(ctx, &l); err != nil {
		return l, err
	}
	if l.ended != "" && (l.tree == nil || !remove) {
		return l, store.EndedAlready("attended: end", episode)
	}
	return l, nil
}

// lookAtTree finds the episode's worktree, when it has one here, and compares it.
func (d Desk) lookAtTree(ctx context.Context, l *last) error {
	const op = "attended: end"
	home, err := session.Home(ctx, d.Office.Store, l.episode)
	switch {
	case err != nil || home == "":
		return err
	case home != d.Home:
		return fault.New(op, fault.Conflict, "episode %s has its worktree with daemon %s; end it there", l.episode, home)
	case d.Root == "":
		return fault.New(op, fault.Invalid, "the episode has a worktree; name the --workspace-root")
	}
	tree, err := d.Root.Find(ctx, l.episode)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	l.tree = &tree
	if l.ended != "" {
		return nil // it was compared when it ended, and is the operator's since
	}
	if d.Jail == nil {
		l.unknown = "there is no jail to compare it in"
		return nil
	}
	if l.changes, err = tree.Changes(ctx, d.Jail, confine.OfWorktree(tree.Path)); err != nil {
		l.unknown = fault.Detail(err)
	}
	return nil
}

func (l last) disposal() record.Disposal {
	switch {
	case l.tree == nil:
		return record.NoWorktree
	case l.remove:
		return record.Removed
	}
	return record.Kept
}

// changed counts the changes, nil when not all of them are known.
func (l last) changed() *record.Changes {
	if l.tree == nil || l.unknown != "" || l.changes.More {
		return nil
	}
	c := l.counted()
	return &c
}

// counted counts those that are known.
func (l last) counted() record.Changes {
	c := record.Changes{Commit: l.tree.Commit, Files: int64(len(l.changes.List))}
	for _, ch := range l.changes.List {
		c.Added += max(ch.Added, 0)
		c.Deleted += max(ch.Deleted, 0)
	}
	return c
}

// shownChanges is how many changed files are shown by name.
const shownChanges = 40

// notice is what the operator sees before the question.
func (l last) notice() []string {
	if l.ended != "" {
		return []string{fmt.Sprintf("Episode %s has ended, and its worktree was kept for you. Look in it for what is not committed:", l.episode),
			"nobody has compared it since."}
	}
	lines := []string{fmt.Sprintf("Episode %s has spent:", l.episode)}
	if len(l.ledger.Spent) == 0 {
		lines[0] = fmt.Sprintf("Episode %s has spent nothing.", l.episode)
	}
	for _, s := range l.ledger.Spent {
		lines = append(lines, fmt.Sprintf("  %q on %q: %d", s.Effect, s.Scope, s.Total))
	}
	if l.tree == nil {
		return append(lines, "It has no worktree here.")
	}
	return append(lines, l.differences()...)
}

// differences tells how the worktree differs from its last commit, whoever made that.
func (l last) differences() []string {
	if l.unknown != "" {
		return []string{"What has changed in its worktree is not known: " + l.unknown + "."}
	}
	c, more := l.counted(), ""
	if l.changes.More {
		more = " and in more new files than can be listed"
	}
	lines := []string{fmt.Sprintf("Its worktree differs from commit %s, its last, in %d file(s), +%d -%d lines%s:", c.Commit, c.Files, c.Added, c.Deleted, more)}
	for i, ch := range l.changes.List {
		if i == shownChanges {
			return append(lines, fmt.Sprintf("  and %d more", len(l.changes.List)-i))
		}
		lines = append(lines, "  "+tell(ch))
	}
	return lines
}

// tell puts a change into a line. Its name may hold anything.
func tell(c worktree.Change) string {
	how := "changed"
	switch {
	case c.New:
		how = "new"
	case c.Gone:
		how = "gone"
	}
	if c.Added < 0 {
		return fmt.Sprintf("%s, binary: %q", how, c.Path)
	}
	return fmt.Sprintf("%s, +%d -%d: %q", how, c.Added, c.Deleted, c.Path)
}

func (l last) question() string {
	if l.ended != "" {
		return fmt.Sprintf("Confirm that the worktree of ended episode %s is REMOVED with all that is in it? [y/N] ", l.episode)
	}
	what := map[record.Disposal]string{
		record.NoWorktree: "", record.Kept: ", and that its worktree is kept for you",
		record.Removed: ", and that its worktree is REMOVED with all that is in it",
	}[l.disposal()]
	return fmt.Sprintf("Confirm that episode %s ends for ever, with %d session(s) revoked%s? [y/N] ", l.episode, l.live, what)
}
