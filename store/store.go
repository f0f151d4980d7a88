package store

import "context"

// Store keeps a world. All methods are safe for concurrent use. Every context
// must carry a deadline or be cancellable by its owner; a method whose context
// ends before its COMMIT is sent has changed nothing.
type Store interface {
	Reader
	Auditor

	// Begin writes the genesis entry, index 0, of an empty store: the act's
	// objects and changes with it. Conflict when the log is not empty. Genesis
	// alone is exempt from "what an entry names must exist" (D9).
	Begin(ctx context.Context, act Act) (Entry, error)

	// Act chains a host act. NotFound when there is no genesis yet; Invalid when
	// the draft names an object that does not exist.
	Act(ctx context.Context, act Act) (Entry, error)

	// Keep stores objects without an entry.
	Keep(ctx context.Context, objects []Object) error

	// Lease takes the episode's lease for this process, or returns the one it
	// holds already; a newly taken lease has an epoch never used before. InFlight
	// when another live holder has it.
	Lease(ctx context.Context, episode EpisodeID) (Lease, error)

	// GiveUp ends the lease: intents left open under it are indeterminate from now on.
	GiveUp(ctx context.Context, lease Lease) error

	// Intend is transaction 1: claim, objects, intent and spend, all or nothing.
	// The guard cost <= max(Budget - spent, 0) runs in the transaction: OverBudget
	// when it fails. Conflict when the id is claimed, LeaseLost when the epoch is
	// not current, Unauthenticated when Credential has no session any more, Invalid
	// when claim or request name an object that does not exist. Returns the intent with its ordinal.
	Intend(ctx context.Context, in Intention) (Intent, error)

	// Commit is transaction 2: claim (without an intent), outcome, objects, entry
	// and head, all or nothing. Conflict when the id is claimed by another call or
	// the intent has an outcome, LeaseLost when the epoch is not current or the
	// intent was opened under another, Invalid when draft, claim or outcome name an
	// object that does not exist, NotFound when there is no genesis yet, HeadMoved
	// when Onto is not the selected head, which may be because this very commit
	// landed before.
	Commit(ctx context.Context, f Finish) (Entry, error)

	// Close waits for running transactions and lets the store go. Afterwards
	// every other method is Unavailable, and a second Close does nothing.
	Close() error
}

// Reader is the half of a store that changes nothing. Missing items are NotFound;
// bytes that do not hash to their ref, or rows that do not match their digest, are Corrupt.
type Reader interface {
	// LastTime is the greatest logical time recorded, in unix seconds, 0 when empty (D4).
	LastTime(ctx context.Context) (int64, error)

	// Look reads several rows at once, each as it stood at some moment of this
	// call. One that is missing is zero and no error.
	Look(ctx context.Context, what Lookup) (Looked, error)

	// Object returns an object whose bytes were re-hashed on the way.
	Object(ctx context.Context, ref Ref) (Object, error)

	// Labels returns all labels of an object, the first one first.
	Labels(ctx context.Context, ref Ref) ([]Label, error)

	// Head returns the selected head; NotFound when there is no genesis.
	Head(ctx context.Context) (Head, error)

	// Entry returns one log entry.
	Entry(ctx context.Context, index int64) (Entry, error)

	// Entries returns up to limit (1 to 500) entries from an index upwards.
	Entries(ctx context.Context, from int64, limit int) ([]Entry, error)

	// EntryOf returns the entry that finished a call; NotFound while there is none.
	EntryOf(ctx context.Context, id InvocationID) (Entry, error)

	// EntryAbout returns the first entry whose transition ref is this object.
	EntryAbout(ctx context.Context, transition Ref) (Entry, error)

	// Claim returns the claim of an invocation id.
	Claim(ctx context.Context, id InvocationID) (Claim, error)

	// Ledger returns an episode's spend; a zero ledger for an unknown episode.
	Ledger(ctx context.Context, episode EpisodeID) (Ledger, error)

	// Intent returns one effect intent.
	Intent(ctx context.Context, episode EpisodeID, ordinal int64) (Intent, error)

	// Intents returns up to limit (1 to 500) intents of an episode from an ordinal upwards.
	Intents(ctx context.Context, episode EpisodeID, from int64, limit int) ([]Intent, error)

	// IntentOf returns the effect intent that a call opened.
	IntentOf(ctx context.Context, id InvocationID) (Intent, error)

	// Indeterminate returns up to limit (1 to 500) unreconciled intents, oldest
	// first, that have an indeterminate outcome, or none and an epoch no longer current.
	Indeterminate(ctx context.Context, limit int) ([]Intent, error)

	// Session returns a session by the hash of its credential.
	Session(ctx context.Context, id CredentialID) (Session, error)

	// Sessions returns up to limit (1 to 500) sessions in mint order after an id ("" for the start).
	Sessions(ctx context.Context, after CredentialID, limit int) ([]Session, error)

	// Registry returns a named head.
	Registry(ctx context.Context, name string) (Ref, error)
}
