package session

import (
	"context"
	"time"

	"world/fault"
	"world/store"
	"world/store/record"
)

// What a caller without a live session is told. The texts cross the wire.
var (
	ErrAbsent    = fault.New("session: resolve", fault.Unauthenticated, "session credential is absent: send Authorization: Bearer <session-credential>")
	ErrMalformed = fault.New("session: resolve", fault.Unauthenticated, "malformed Authorization header: expected Bearer <64-hex-credential>")
	ErrUnknown   = fault.New("session: resolve", fault.Unauthenticated, "unknown session credential")
	ErrExpired   = fault.New("session: resolve", fault.Unauthenticated, "session credential has expired")
)

// Live is a session as it was resolved for one request.
type Live struct {
	Object     store.Ref // world/session/v1
	Record     record.SessionRecord
	Credential store.CredentialID
}

// Expired reports whether the session's life is over at now (logical unix seconds).
func (l Live) Expired(now int64) bool { return now >= l.Record.ExpiresAt }

// Now returns logical time in unix seconds: the wall clock, but never before a
// time that is already recorded, so a clock set back revives nothing (D4).
func Now(ctx context.Context, r store.Reader, wall time.Time) (int64, error) {
	last, err := r.LastTime(ctx)
	return max(wall.Unix(), last), err
}

// Resolve finds the live session of a credential at now (logical unix seconds).
// ErrUnknown for one never minted or revoked, ErrExpired from expiresAt on. Any
// other error is the store's: Corrupt when row and object do not agree.
func Resolve(ctx context.Context, r store.Reader, token Token, now int64) (Live, error) {
	row, err := r.Session(ctx, token.ID())
	if fault.Is(err, fault.NotFound) {
		return Live{}, ErrUnknown
	}
	if err != nil {
		return Live{}, err
	}
	if row.Revocation != "" {
		return Live{}, ErrUnknown
	}
	rec, err := Read(ctx, r, row)
	if err != nil {
		return Live{}, err
	}
	live := Live{Object: row.Object, Record: rec, Credential: row.Credential}
	if live.Expired(now) {
		return Live{}, ErrExpired
	}
	return live, nil
}

// Still holds a resolved session against its row as it is now, zero for none:
// ErrUnknown when it was revoked since. It does not look at time; see Expired.
func (l Live) Still(row store.Session) error {
	switch {
	case row.Credential != l.Credential, row.Revocation != "":
		return ErrUnknown
	case row.Object != l.Object:
		return fault.New("session: still live", fault.Corrupt, "the session row names another object than before")
	}
	return nil
}

// Read returns the object behind a session's row: Corrupt when it is missing or
// the two do not agree.
func Read(ctx context.Context, r store.Reader, row store.Session) (record.SessionRecord, error) {
	object, err := r.Object(ctx, row.Object)
	if err != nil {
		return record.SessionRecord{}, fault.Wrap("session: read", evidenceKind(err), err, "session object %s", row.Object)
	}
	rec, err := record.DecodeSession(object.Bytes())
	if err != nil {
		return rec, fault.Wrap("session: read", fault.Corrupt, err, "session object %s does not decode", row.Object)
	}
	if rec.Credential != row.Credential || rec.Episode != row.Episode ||
		rec.CreatedAt != row.CreatedAt || rec.ExpiresAt != row.ExpiresAt {
		return rec, fault.New("session: read", fault.Corrupt, "session row and object %s do not agree", row.Object)
	}
	return rec, nil
}

// evidenceKind is the kind of a failed read of something that must be there.
func evidenceKind(err error) fault.Kind {
	if kind := fault.KindOf(err); kind != fault.NotFound {
		return kind
	}
	return fault.Corrupt
}
