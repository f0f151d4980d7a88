package session

import (
	"context"

	"world/fault"
	"world/store"
	"world/store/record"
)

// Home returns the daemon with which an episode has its worktree, "" when it has
// none. It is read from the hashed session object that the registry head names.
func Home(ctx context.Context, r store.Reader, episode store.EpisodeID) (store.HomeID, error) {
	home, _, err := homeOf(ctx, r, episode)
	return home, err
}

// homeOf returns the home and the session object that says so, "" for none.
func homeOf(ctx context.Context, r store.Reader, episode store.EpisodeID) (store.HomeID, store.Ref, error) {
	ref, err := r.Registry(ctx, record.HomeName(episode))
	if fault.Is(err, fault.NotFound) {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	home, err := HomeAt(ctx, r, episode, ref)
	return home, ref, err
}

// Objects reads objects.
type Objects interface {
	Object(ctx context.Context, ref store.Ref) (store.Object, error)
}

// HomeAt returns the home that a session object gives an episode, "" for no object.
func HomeAt(ctx context.Context, r Objects, episode store.EpisodeID, ref store.Ref) (store.HomeID, error) {
	const op = "session: home"
	if ref == "" {
		return "", nil
	}
	object, err := r.Object(ctx, ref)
	if err != nil {
		return "", fault.Wrap(op, evidenceKind(err), err, "session object %s", ref)
	}
	rec, err := record.DecodeSession(object.Bytes())
	if err != nil || rec.Episode != episode || rec.Home == "" {
		return "", fault.Wrap(op, fault.Corrupt, err, "session object %s gives episode %s no home", ref, episode)
	}
	return rec.Home, nil
}

// CheckHome refuses, kind Conflict, to give an episode a worktree here when its
// home is another.
func CheckHome(ctx context.Context, r store.Reader, episode store.EpisodeID, here store.HomeID) error {
	_, err := moveHome(ctx, r, episode, here, "")
	return err
}

// moveHome is the change that makes a session the one which names the home.
func moveHome(ctx context.Context, r store.Reader, episode store.EpisodeID, here store.HomeID, object store.Ref) (store.MoveRegistry, error) {
	home, from, err := homeOf(ctx, r, episode)
	if err == nil && home != "" && home != here {
		err = fault.New("session: home", fault.Conflict, "episode %s has its worktree with daemon %s", episode, home)
	}
	return store.MoveRegistry{Name: record.HomeName(episode), From: from, To: object}, err
}
