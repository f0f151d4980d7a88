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
	home, _, err := homeAt(ctx, r, episode)
	return home, err
}

// homeAt returns the home and the session object that says so, "" for none.
func homeAt(ctx context.Context, r store.Reader, episode store.EpisodeID) (store.HomeID, store.Ref, error) {
	const op = "session: home"
	ref, err := r.Registry(ctx, record.HomeName(episode))
	if fault.Is(err, fault.NotFound) {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	object, err := r.Object(ctx, ref)
	if err != nil {
		return "", "", fault.Wrap(op, evidenceKind(err), err, "session object %s", ref)
	}
	rec, err := record.DecodeSession(object.Bytes())
	if err != nil || rec.Episode != episode || rec.Home == "" {
		return "", "", fault.Wrap(op, fault.Corrupt, err, "session object %s gives episode %s no home", ref, episode)
	}
	return rec.Home, ref, nil
}

// CheckHome refuses, kind Conflict, to give an episode a worktree here when its
// home is another.
func CheckHome(ctx context.Context, r store.Reader, episode store.EpisodeID, here store.HomeID) error {
	_, err := moveHome(ctx, r, episode, here, "")
	return err
}

// moveHome is the change that makes a session the one which names the home.
func moveHome(ctx context.Context, r store.Reader, episode store.EpisodeID, here store.HomeID, object store.Ref) (store.MoveRegistry, error) {
	home, from, err := homeAt(ctx, r, episode)
	if err == nil && home != "" && home != here {
		err = fault.New("session: home", fault.Conflict, "episode %s has its worktree with daemon %s", episode, home)
	}
	return store.MoveRegistry{Name: record.HomeName(episode), From: from, To: object}, err
}
