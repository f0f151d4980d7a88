package store

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

func (MintSession) change()     {}
func (RevokeSession) change()   {}
func (MoveRegistry) change()    {}
func (ReconcileIntent) change() {}

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
