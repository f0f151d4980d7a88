package record

import (
	"world/broker/law"
	"world/canon"
	"world/fault"
	"world/store"
)

// SessionRecord is the evidence of a mint: who may do what until when. It never
// holds the credential, only the hash by which it is looked up (D8, D19).
type SessionRecord struct {
	Credential store.CredentialID `json:"credentialId"`
	Episode    store.EpisodeID    `json:"episode"`
	Grants     []SessionGrant     `json:"grants"` // mint order
	CreatedAt  int64              `json:"createdAt"`
	ExpiresAt  int64              `json:"expiresAt"`      // exclusive, of the session and of each grant (D4)
	Home       store.HomeID       `json:"home,omitempty"` // daemon with the episode's worktree, of a session minted with one (D13)
}

// SessionGrant is one minted grant.
type SessionGrant struct {
	Effect law.Effect `json:"effect"`
	Scope  law.Scope  `json:"scope"`
	Budget int64      `json:"budget"` // calls
}

// Bytes is the record's byte form.
func (r SessionRecord) Bytes() []byte { return canon.Encode(r) }

// Law returns the minted grants as the law reads them, budgets not yet seeded.
func (r SessionRecord) Law() []law.Grant {
	grants := make([]law.Grant, len(r.Grants))
	for i, g := range r.Grants {
		grants[i] = law.Grant{Effect: g.Effect, Scope: g.Scope, ExpiresAt: r.ExpiresAt, Budget: g.Budget}
	}
	return grants
}

// DecodeSession reads a session record and refuses two grants of one (effect, scope) (D2).
func DecodeSession(raw []byte) (SessionRecord, error) {
	r, err := canon.DecodeExact[SessionRecord](raw, canon.Limits{Bytes: 1 << 20})
	if err != nil {
		return r, err
	}
	return r, r.Check()
}

// Check holds what every minted session promises.
func (r SessionRecord) Check() error {
	bad := func(what string) error { return fault.New("record: session", fault.Invalid, "%s", what) }
	if _, err := store.ParseCredentialID(string(r.Credential)); err != nil {
		return err
	}
	if _, err := store.ParseEpisodeID(string(r.Episode)); err != nil {
		return err
	}
	if r.CreatedAt < 0 || r.ExpiresAt < r.CreatedAt || len(r.Grants) == 0 {
		return bad("a session has grants and a life from createdAt to expiresAt")
	}
	if r.Home != "" {
		if _, err := store.ParseHomeID(string(r.Home)); err != nil {
			return err
		}
	}
	seen := map[[2]string]bool{}
	for _, g := range r.Grants {
		key := [2]string{string(g.Effect), string(g.Scope)}
		if g.Effect == "" || g.Scope == "" || g.Budget < 0 {
			return bad("a grant is EFFECT=SCOPE:BUDGET with a budget of 0 or more")
		}
		if seen[key] {
			return bad("two grants of " + key[0] + "=" + key[1])
		}
		seen[key] = true
	}
	return nil
}

// RevocationRecord is the evidence that a session was ended early.
type RevocationRecord struct {
	Session store.Ref `json:"session"`
	At      int64     `json:"at"` // logical unix seconds
}

// Bytes is the record's byte form.
func (r RevocationRecord) Bytes() []byte { return canon.Encode(r) }

// DecodeRevocation reads a revocation record.
func DecodeRevocation(raw []byte) (RevocationRecord, error) {
	r, err := canon.DecodeExact[RevocationRecord](raw, canon.Limits{Bytes: 64 << 10})
	if err == nil && r.At < 0 {
		err = fault.New("record: revocation", fault.Invalid, "time out of range")
	}
	if err == nil {
		_, err = store.ParseRef(string(r.Session))
	}
	return r, err
}

// ReconciliationRecord is an operator's word on an intent whose outcome is not
// known. It refunds nothing and is no effect record (D10).
type ReconciliationRecord struct {
	Intent  string `json:"intent"`  // durable name
	Verdict string `json:"verdict"` // succeeded, failed or abandoned
	Note    string `json:"note"`
	By      string `json:"by"`
	At      int64  `json:"at"` // logical unix seconds
}

// Bytes is the record's byte form.
func (r ReconciliationRecord) Bytes() []byte { return canon.Encode(r) }

// DecodeReconciliation reads a reconciliation record.
func DecodeReconciliation(raw []byte) (ReconciliationRecord, error) {
	r, err := canon.DecodeExact[ReconciliationRecord](raw, canon.Limits{Bytes: 64 << 10})
	if err != nil {
		return r, err
	}
	return r, r.Check()
}

// Check refuses what no operator's word can be.
func (r ReconciliationRecord) Check() error {
	if r.Intent == "" || r.At < 0 {
		return fault.New("record: reconciliation", fault.Invalid, "intent or time out of range")
	}
	if r.Verdict != "succeeded" && r.Verdict != "failed" && r.Verdict != "abandoned" {
		return fault.New("record: reconciliation", fault.Invalid, "a verdict is succeeded, failed or abandoned")
	}
	return nil
}
