package store

import (
	"slices"
	"strings"
	"unicode/utf8"

	"world/fault"
)

// What every engine refuses before it touches a database. The refusals are here
// so that they are the same whichever engine keeps the world.

// MaxListing is how many rows a listing returns at most.
const MaxListing = 500

// MaxText is the longest label, effect, scope or author of an entry, in bytes.
const MaxText = 512

// CheckLimit refuses a listing of no rows or of too many.
func CheckLimit(op string, limit int) error {
	if limit < 1 || limit > MaxListing {
		return fault.New(op, fault.Invalid, "a limit is 1 to %d", MaxListing)
	}
	return nil
}

// CheckRefs refuses refs that would not fit their columns.
func CheckRefs(op string, refs ...Ref) error {
	for _, r := range refs {
		if _, err := ParseRef(string(r)); err != nil {
			return fault.Wrap(op, fault.Invalid, err, "a ref is missing or malformed")
		}
	}
	return nil
}

// CheckObjects refuses objects that NewObject did not make or that are too large.
func CheckObjects(op string, objects []Object) error {
	for _, o := range objects {
		if o.ref == "" {
			return fault.New(op, fault.Invalid, "an object was not made by NewObject")
		}
		if len(o.bytes) > MaxObject {
			return fault.New(op, fault.Limit, "object %s is %d bytes, the limit is %d", o.ref, len(o.bytes), MaxObject)
		}
		if !storable(o.label.SemanticID) || !storable(o.label.Provenance) {
			return badText(op, "a label")
		}
	}
	return nil
}

// storable reports whether every engine can keep a text as it is.
func storable(s string) bool {
	return len(s) <= MaxText && utf8.ValidString(s) && !strings.ContainsRune(s, 0)
}

func badText(op, what string) error {
	return fault.New(op, fault.Invalid, "%s is at most %d bytes of UTF-8 without NUL", what, MaxText)
}

// Check refuses a claim that no engine could keep.
func (c Claim) Check(op string) error {
	if c.Invocation == "" || len(c.Invocation) > 256 || !storable(string(c.Invocation)) {
		return fault.New(op, fault.Invalid, "an invocation id is 1 to 256 bytes of UTF-8 without NUL")
	}
	if _, err := ParseEpisodeID(string(c.Episode)); err != nil {
		return err
	}
	if _, err := ParseTransitionID(string(c.Transition)); err != nil {
		return err
	}
	if c.At < 0 {
		return fault.New(op, fault.Invalid, "time %d is negative", c.At)
	}
	return CheckRefs(op, c.TransitionFn, c.Input, c.Session)
}

// Check refuses a malformed transaction 1.
func (in Intention) Check(op string) error {
	if err := in.Claim.Check(op); err != nil {
		return err
	}
	switch {
	case in.Lease.Episode != in.Claim.Episode:
		return fault.New(op, fault.Invalid, "the lease is of another episode")
	case in.Cost < 0:
		return fault.New(op, fault.Invalid, "cost %d is negative", in.Cost)
	case in.Effect == "" || in.Scope == "":
		return fault.New(op, fault.Invalid, "effect or scope is empty")
	case !storable(string(in.Effect)) || !storable(string(in.Scope)):
		return badText(op, "an effect or scope")
	}
	if in.Credential != "" {
		if _, err := ParseCredentialID(string(in.Credential)); err != nil {
			return err
		}
	}
	if err := CheckRefs(op, in.Request); err != nil {
		return err
	}
	return CheckObjects(op, in.Objects)
}

// Authorized refuses an intention whose session is not as it must be: s is the row
// of its credential, zero for none.
func (in Intention) Authorized(op string, s Session) error {
	switch {
	case s.Credential != in.Credential:
		return fault.New(op, fault.Unauthenticated, "the call has no session")
	case s.Revocation != "":
		return fault.New(op, fault.Unauthenticated, "the call's session was revoked")
	case s.Object != in.Claim.Session:
		return fault.New(op, fault.Corrupt, "the call's session has another object than its claim")
	}
	return nil
}

// Opened is the intent that an intention opens, but for its ordinal.
func (in Intention) Opened() Intent {
	return Intent{
		Episode: in.Claim.Episode, Invocation: in.Claim.Invocation, Effect: in.Effect, Scope: in.Scope,
		Cost: in.Cost, Request: in.Request, At: in.Claim.At, Epoch: in.Lease.Epoch,
	}
}

// Names returns what must be stored already: what the intention names and does
// not bring, each once.
func (in Intention) Names() []Ref {
	return without(in.Objects, in.Claim.TransitionFn, in.Claim.Input, in.Claim.Session, in.Request)
}

// Check refuses a malformed transaction 2.
func (f Finish) Check(op string) error {
	if err := f.Claim.Check(op); err != nil {
		return err
	}
	if err := f.Draft.Check(op, f.At); err != nil {
		return err
	}
	if err := CheckObjects(op, f.Objects); err != nil {
		return err
	}
	if f.Intent == nil {
		return nil
	}
	if f.Lease.Episode != f.Intent.Episode || f.Claim.Episode != f.Intent.Episode {
		return fault.New(op, fault.Invalid, "the lease, the claim and the intent are of different episodes")
	}
	switch o := f.Outcome; o.Status {
	case StatusSucceeded, StatusFailed:
		return CheckRefs(op, o.Record, o.Detail)
	case StatusIndeterminate:
		if o.Record != "" {
			return fault.New(op, fault.Invalid, "an indeterminate effect has no record")
		}
		return CheckRefs(op, o.Detail)
	}
	return fault.New(op, fault.Invalid, "an outcome is succeeded, failed or indeterminate")
}

// Follows refuses, kind HeadMoved, a finish that was to follow another head.
func (f Finish) Follows(op string, head Head) error {
	if f.Onto != "" && f.Onto != head.World {
		return fault.New(op, fault.HeadMoved, "the selected head is not %s", f.Onto)
	}
	return nil
}

// Names returns what must be stored already: what the finish names and does not
// bring, each once.
func (f Finish) Names() []Ref {
	named := f.Draft.names()
	if f.Intent == nil {
		named = append(named, f.Claim.TransitionFn, f.Claim.Input, f.Claim.Session)
	} else if named = append(named, f.Outcome.Detail); f.Outcome.Record != "" {
		named = append(named, f.Outcome.Record)
	}
	return without(f.Objects, named...)
}

// Check refuses a draft that no entry could be made of; at is the time of the act.
func (d Draft) Check(op string, at int64) error {
	switch {
	case at < 0 || d.SemanticsEpoch < 0:
		return fault.New(op, fault.Invalid, "a time or epoch is negative")
	case d.WrittenBy == "":
		return fault.New(op, fault.Invalid, "an entry says who wrote it")
	case !storable(d.WrittenBy):
		return badText(op, "the author of an entry")
	}
	return CheckRefs(op, d.TransitionFn, d.Interpreter, d.Transition, d.StateRoot)
}

func (d Draft) names() []Ref {
	return []Ref{d.TransitionFn, d.Interpreter, d.Transition, d.StateRoot}
}

// Check refuses a malformed act: what can be said of its changes without a database.
func (a Act) Check(op string) error {
	if err := a.Draft.Check(op, a.At); err != nil {
		return err
	}
	if err := CheckObjects(op, a.Objects); err != nil {
		return err
	}
	for _, ch := range a.Changes {
		if err := a.checkChange(op, ch); err != nil {
			return err
		}
	}
	return nil
}

func (a Act) checkChange(op string, ch Change) error {
	switch ch := ch.(type) {
	case MintSession:
		return a.checkMint(op, ch.Session)
	case RevokeSession:
		return CheckRefs(op, ch.Revocation)
	case MoveRegistry:
		if ch.Name == "" || len(ch.Name) > 128 || !storable(ch.Name) {
			return fault.New(op, fault.Invalid, "a registry's name is 1 to 128 bytes of UTF-8 without NUL")
		}
		if _, ends := EndOf(ch.Name); ends {
			return fault.New(op, fault.Invalid, "registry %q moves by the end of an episode alone", ch.Name)
		}
		if ch.From != "" {
			return CheckRefs(op, ch.From, ch.To)
		}
		return CheckRefs(op, ch.To)
	case ReconcileIntent:
		if ch.Lease.Episode != ch.Episode {
			return fault.New(op, fault.Invalid, "the lease is of another episode")
		}
		return CheckRefs(op, ch.Reconciliation)
	case EndEpisode:
		if _, err := ParseEpisodeID(string(ch.Episode)); err != nil {
			return err
		}
		if ch.Lease.Episode != ch.Episode {
			return fault.New(op, fault.Invalid, "the lease is of another episode")
		}
		return CheckRefs(op, ch.Ending)
	}
	return fault.New(op, fault.Invalid, "unknown change %T", ch)
}

func (a Act) checkMint(op string, s Session) error {
	if _, err := ParseCredentialID(string(s.Credential)); err != nil {
		return err
	}
	if _, err := ParseEpisodeID(string(s.Episode)); err != nil {
		return err
	}
	if s.Revocation != "" || s.CreatedAt < 0 || s.ExpiresAt < s.CreatedAt {
		return fault.New(op, fault.Invalid, "a session is minted live and ends after it begins")
	}
	if !slices.ContainsFunc(a.Objects, func(o Object) bool { return o.ref == s.Object }) {
		return fault.New(op, fault.Invalid, "the session's object is not among the act's objects")
	}
	return nil
}

// Names returns what must be stored already for the act's entry: what its draft
// names and the act does not bring, each once.
func (a Act) Names() []Ref { return without(a.Objects, a.Draft.names()...) }

// without returns, once each, the refs that do not come with the objects.
func without(objects []Object, named ...Ref) []Ref {
	rest := named[:0:0]
	for _, r := range named {
		if !slices.Contains(rest, r) && !slices.ContainsFunc(objects, func(o Object) bool { return o.ref == r }) {
			rest = append(rest, r)
		}
	}
	return rest
}
