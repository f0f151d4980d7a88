package attended

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"strings"
	"unicode"

	"world/fault"
	"world/session"
	"world/store"
	"world/store/record"
)

const (
	provenance = "host:reconcile"
	maxNote    = 2048 // bytes
)

// Word is an operator's word on an effect of which nobody knows whether it happened (D10).
type Word struct {
	ID      string // durable name of the intent, or the id of its call
	Verdict string // succeeded, failed or abandoned
	Note    string // why, 1 to 2048 bytes of printable text
}

// Reconciled is a word that was written down.
type Reconciled struct {
	Intent string    // durable name
	Object store.Ref // world/reconciliation/v1
	Entry  int64     // log index
}

// Check refuses, kind Invalid, a word that nobody may give.
func (w Word) Check() error {
	const op = "attended: check word"
	if w.ID == "" {
		return fault.New(op, fault.Invalid, "name an intent, effect:EPISODE:ORDINAL, or a call")
	}
	blank := strings.TrimSpace(w.Note) == ""
	if blank || len(w.Note) > maxNote || strings.ContainsFunc(w.Note, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fault.New(op, fault.Invalid, "a note is 1 to %d bytes of printable text", maxNote)
	}
	return record.ReconciliationRecord{Intent: w.ID, Verdict: w.Verdict, Note: w.Note}.Check()
}

// Reconcile shows the intent, asks at the terminal, and closes it under the
// episode's lease: one object and one log entry, no effect record and no refund.
// Errors: NotFound without such an intent, Conflict when it is closed already,
// InFlight while it is running, here or in another daemon.
func (d Desk) Reconcile(ctx context.Context, t *Terminal, w Word) (Reconciled, error) {
	if err := w.Check(); err != nil {
		return Reconciled{}, err
	}
	intent, err := d.unsettled(ctx, w.ID)
	if err != nil {
		return Reconciled{}, err
	}
	err = d.ask(ctx, t, []string{
		fmt.Sprintf("Intent %s: %q on %q, cost %d, of call %q at %d.",
			intent.Name(), intent.Effect, intent.Scope, intent.Cost, intent.Invocation, intent.At),
		"Nobody knows whether it happened. Your word closes it for ever; its cost stays spent.",
	}, fmt.Sprintf("Confirm that %s is reconciled as %s? [y/N] ", intent.Name(), w.Verdict))
	if err != nil {
		return Reconciled{}, err
	}
	return d.reconcile(ctx, intent, w)
}

// unsettled finds the intent and refuses one that has its ending.
func (d Desk) unsettled(ctx context.Context, id string) (store.Intent, error) {
	const op = "attended: reconcile"
	ctx, cancel := context.WithTimeout(ctx, actTime)
	defer cancel()
	var intent store.Intent
	episode, ordinal, err := store.ParseIntentName(id)
	if err == nil {
		intent, err = d.Office.Store.Intent(ctx, episode, ordinal)
	} else {
		intent, err = d.Office.Store.IntentOf(ctx, store.InvocationID(id))
	}
	switch s := intent.Outcome.Status; {
	case fault.Is(err, fault.NotFound):
		return intent, fault.Wrap(op, fault.NotFound, err, "there is no such intent, and no call of that id has one")
	case err != nil:
		return intent, err
	case intent.Reconciled != "":
		return intent, fault.New(op, fault.Conflict, "intent %s is reconciled already", intent.Name())
	case s == store.StatusSucceeded || s == store.StatusFailed:
		return intent, fault.New(op, fault.Conflict, "intent %s has its outcome: %s", intent.Name(), s)
	}
	return intent, nil
}

// reconcile writes the word down.
func (d Desk) reconcile(ctx context.Context, intent store.Intent, w Word) (Reconciled, error) {
	ctx, cancel := context.WithTimeout(ctx, actTime)
	defer cancel()
	now, err := session.Now(ctx, d.Office.Store, d.Wall())
	if err != nil {
		return Reconciled{}, err
	}
	object := store.NewObject(record.Reconciliation, provenance, record.ReconciliationRecord{
		Intent: intent.Name(), Verdict: w.Verdict, Note: w.Note, By: operator(), At: now,
	}.Bytes())
	draft, err := d.Office.Draft(ctx, "reconcile", object.Ref())
	if err != nil {
		return Reconciled{}, err
	}
	entry, err := d.underLease(ctx, intent.Episode, func(lease store.Lease) (store.Entry, error) {
		return d.Office.Store.Act(ctx, store.Act{
			Objects: []store.Object{object}, Draft: draft, At: now,
			Changes: []store.Change{store.ReconcileIntent{
				Episode: intent.Episode, Ordinal: intent.Ordinal, Reconciliation: object.Ref(), Lease: lease,
			}},
		})
	})
	return Reconciled{intent.Name(), object.Ref(), entry.Index}, err
}

// operator names who gave the word: the user of this process, which is the
// user of the terminal too.
func operator() string {
	if u, err := user.Current(); err == nil {
		return "operator " + u.Username
	}
	return fmt.Sprintf("operator of uid %d", os.Getuid())
}
