package store

import "world/fault"

// Act is something the host does that leaves a log entry: genesis, minting and
// revoking sessions, moving the registry, reconciling an intent.
type Act struct {
	Objects []Object
	Draft   Draft // for genesis it may name a state root that is not an object
	Changes []Change
	At      int64 // logical unix seconds
}

// Change is one row change of an Act. The list of kinds is closed.
type Change interface{ change() }

// MintSession adds a session. Its object must be among the act's objects.
// Conflict when there is such a session, or its episode has ended.
type MintSession struct{ Session Session }

// RevokeSession ends a session; Revocation is the ref of the object that says so.
// An unknown id is NotFound, one revoked already is Conflict.
type RevokeSession struct {
	Credential CredentialID
	Revocation Ref
}

// MoveRegistry moves a named head from one object to another by compare and
// set; From is "" for the first. Another From is Conflict.
type MoveRegistry struct {
	Name     string
	From, To Ref
}

// ReconcileIntent closes an open or indeterminate intent by an operator's word,
// once: Conflict when it is closed already, InFlight while it is open under the
// lease's own epoch, that is, running. The caller holds the episode's lease (D10).
type ReconcileIntent struct {
	Episode        EpisodeID
	Ordinal        int64
	Reconciliation Ref
	Lease          Lease
}

// EndEpisode closes an episode's name for ever (D19): the registry head EndName is
// put on Ending, no session is minted for it any more, and its lease is given up,
// so that nothing is written under it. Conflict when it has ended already, has a
// session that is not revoked, or has more intents than Ending tells of; InFlight
// while an effect runs under the lease.
type EndEpisode struct {
	Episode EpisodeID
	Ending  Ref
	Next    int64 // ordinal that its next intent would get
	Lease   Lease // its current one, of this process
}

func (MintSession) change()     {}
func (RevokeSession) change()   {}
func (MoveRegistry) change()    {}
func (ReconcileIntent) change() {}
func (EndEpisode) change()      {}

// Session is a minted session without its credential. Grants are read from the
// object, so that authority always comes from hashed bytes.
type Session struct {
	Credential CredentialID
	Object     Ref // world/session/v1
	Episode    EpisodeID
	CreatedAt  int64 // logical unix seconds
	ExpiresAt  int64 // logical unix seconds, exclusive
	Revocation Ref   // "" while live
}

// Why an episode is not ended, or not minted for: the same in every engine.

// EndedAlready refuses, kind Conflict, what an ended episode takes no more.
func EndedAlready(op string, episode EpisodeID) error {
	return fault.New(op, fault.Conflict, "episode %s has ended; its name is closed for ever", episode)
}

// Lived refuses, kind Conflict, to end an episode with a session that is not revoked.
func Lived(op string, episode EpisodeID) error {
	return fault.New(op, fault.Conflict, "episode %s has a session that is not revoked", episode)
}

// Moved refuses, kind Conflict, to end an episode with an intent that came meanwhile.
func Moved(op string, episode EpisodeID) error {
	return fault.New(op, fault.Conflict, "episode %s has had another effect meanwhile", episode)
}

// Running refuses, kind InFlight, to end an episode while an effect of it runs.
func Running(op string, episode EpisodeID) error {
	return fault.New(op, fault.InFlight, "a call of episode %s is running", episode)
}
