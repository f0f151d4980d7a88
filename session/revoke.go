package session

import (
	"context"

	"world/fault"
	"world/store"
	"world/store/record"
)

// page is how many sessions are read at a time; the store's own limit.
const page = 500

// Revoke ends one session at now (logical unix seconds). NotFound when there is
// none of that id, Conflict when it was revoked already.
func (o Office) Revoke(ctx context.Context, id store.CredentialID, now int64) (store.Entry, error) {
	row, err := o.Store.Session(ctx, id)
	if err != nil {
		return store.Entry{}, err
	}
	if row.Revocation != "" {
		return store.Entry{}, fault.New("session: revoke", fault.Conflict, "session %s is revoked already", id)
	}
	object := store.NewObject(record.Revocation, provenance,
		record.RevocationRecord{Session: row.Object, At: now}.Bytes())
	draft, err := o.Draft(ctx, "session-revoke", object.Ref())
	if err != nil {
		return store.Entry{}, err
	}
	return o.Store.Act(ctx, store.Act{
		Objects: []store.Object{object},
		Draft:   draft,
		Changes: []store.Change{store.RevokeSession{Credential: id, Revocation: object.Ref()}},
		At:      now,
	})
}

// RevokeEpisode ends every unrevoked session of an episode, each with its own
// log entry, and returns their ids in mint order. NotFound when there is none.
// An error leaves those revoked that are returned with it.
func (o Office) RevokeEpisode(ctx context.Context, episode store.EpisodeID, now int64) ([]store.CredentialID, error) {
	var open []store.CredentialID
	err := Each(ctx, o.Store, func(s store.Session) error {
		if s.Episode == episode && s.Revocation == "" {
			open = append(open, s.Credential)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(open) == 0 {
		return nil, fault.New("session: revoke", fault.NotFound, "no unrevoked session of episode %s", episode)
	}
	for i, id := range open {
		if _, err := o.Revoke(ctx, id, now); err != nil && !fault.Is(err, fault.Conflict) {
			return open[:i], err
		}
	}
	return open, nil
}

// Each visits every session in mint order and stops at the first error.
func Each(ctx context.Context, r store.Reader, visit func(store.Session) error) error {
	after := store.CredentialID("")
	for {
		rows, err := r.Sessions(ctx, after, page)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := visit(row); err != nil {
				return err
			}
			after = row.Credential
		}
		if len(rows) < page {
			return nil
		}
	}
}
