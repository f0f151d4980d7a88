package admin

import (
	"world/canon"
	"world/fault"
	"world/session"
	"world/session/worktree"
	"world/store"
	"world/store/record"
)

// request asks for one of its verbs. World names the store that the client
// means, by the hash of its genesis entry.
type request struct {
	World     store.Ref   `json:"world"`
	Mint      *mintTerms  `json:"mint"`
	New       *newSession `json:"new"`
	Revoke    *revocation `json:"revoke"`
	Reconcile *word       `json:"reconcile"`
	End       *ending     `json:"end"`
}

type mintTerms struct {
	Episode store.EpisodeID       `json:"episode"`
	Grants  []record.SessionGrant `json:"grants"`
	TTL     int64                 `json:"ttl"` // seconds
}

type newSession struct {
	Terms      mintTerms     `json:"terms"`
	Root       worktree.Root `json:"root"` // "" for the daemon's own
	Repository string        `json:"repository"`
	Branch     string        `json:"branch"`
	Detach     bool          `json:"detach"`
}

// word is an operator's word on an intent.
type word struct {
	ID      string `json:"id"`
	Verdict string `json:"verdict"`
	Note    string `json:"note"`
}

// ending ends an episode.
type ending struct {
	Episode store.EpisodeID `json:"episode"`
	Root    worktree.Root   `json:"root"`   // "" for the daemon's own
	Remove  bool            `json:"remove"` // the worktree too
}

// revocation names a session or an episode, exactly one of them.
type revocation struct {
	Credential store.CredentialID `json:"credentialId"`
	Episode    store.EpisodeID    `json:"episode"`
}

func (m mintTerms) terms() session.Terms { return session.Terms(m) }

func (n newSession) request() worktree.Request {
	return worktree.Request{
		Repository: n.Repository, Episode: n.Terms.Episode, Branch: n.Branch, Detach: n.Detach,
	}
}

// decodeRequest refuses everything but the exact form of one verb.
func decodeRequest(raw []byte) (request, error) {
	q, err := canon.DecodeExact[request](raw, canon.Limits{Bytes: maxFrame})
	if err != nil {
		return q, err
	}
	verbs := 0
	for _, given := range []bool{q.Mint != nil, q.New != nil, q.Revoke != nil, q.Reconcile != nil, q.End != nil} {
		if given {
			verbs++
		}
	}
	if verbs != 1 {
		return q, fault.New("admin: decode", fault.Invalid, "a request has exactly one verb")
	}
	if r := q.Revoke; r != nil {
		if (r.Credential == "") == (r.Episode == "") {
			return q, fault.New("admin: decode", fault.Invalid, "a revocation names a session or an episode")
		}
	}
	_, err = store.ParseRef(string(q.World))
	return q, err
}

// reply is the daemon's answer: a refusal, or what was done.
type reply struct {
	Refusal    *refusal             `json:"refusal"`
	Minted     *Minted              `json:"minted"`
	Revoked    []store.CredentialID `json:"revoked"`
	Reconciled *Reconciled          `json:"reconciled"`
	Ended      *Ended               `json:"ended"`
}

type refusal struct {
	Kind   string `json:"kind"`
	Detail string `json:"detail"`
}

// Minted is a session that was minted, as its holder is told of it.
type Minted struct {
	Token      string             `json:"token"` // the credential: nowhere else
	Credential store.CredentialID `json:"credentialId"`
	Object     store.Ref          `json:"object"`
	Entry      int64              `json:"entry"`
	ExpiresAt  int64              `json:"expiresAt"` // logical unix seconds
	Worktree   string             `json:"worktree"`  // "" without one
}

// MintedOf tells of a minted session; the zero one has no token.
func MintedOf(m session.Minted, worktree string) Minted {
	return Minted{
		Token: m.Token.Reveal(), Credential: m.Record.Credential, Object: m.Object,
		Entry: m.Entry.Index, ExpiresAt: m.Record.ExpiresAt, Worktree: worktree,
	}
}

// Reconciled is an operator's word as it was written down.
type Reconciled struct {
	Intent string    `json:"intent"` // durable name
	Object store.Ref `json:"object"`
	Entry  int64     `json:"entry"`
}

// Ended is an episode that has ended.
type Ended struct {
	Episode  store.EpisodeID      `json:"episode"`
	Object   store.Ref            `json:"object"` // "" when it had ended before
	Entry    int64                `json:"entry"`
	Revoked  []store.CredentialID `json:"revoked"`
	Worktree record.Disposal      `json:"worktree"`
	Path     string               `json:"path"`           // of a worktree that is kept, "" otherwise
	Late     []string             `json:"late,omitempty"` // what the operator was not shown before the question
}

// refused turns an error into what may cross the socket.
func refused(err error) reply {
	return reply{Refusal: &refusal{Kind: fault.KindOf(err).String(), Detail: fault.Detail(err)}}
}

// err is the inverse of refused, nil for an answer that is no refusal.
func (r reply) err() error {
	if r.Refusal == nil {
		return nil
	}
	kind, ok := fault.ParseKind(r.Refusal.Kind)
	if !ok {
		kind = fault.Internal
	}
	return fault.New("admin: daemon", kind, "%s", r.Refusal.Detail)
}
