// Package fault is the project's error type: an operation, a kind from a closed
// list, and a cause.
//
// It promises that every kind has one fixed text that may cross the wire, and
// that Public never shows a cause. Detail is written for the agent or operator
// who made the request and must hold no host path, secret or stack; what may
// hold them belongs in the cause, which only logs see.
package fault

import (
	"errors"
	"fmt"
	"slices"
)

// Kind classifies an error. Append only, never reorder: kinds cross the wire.
type Kind int

const (
	Internal        Kind = iota // a failure of ours, cause in the log only
	Invalid                     // the request is malformed; nothing was written
	Unauthenticated             // no credential, or none that is known and live
	Denied                      // the law or a rule refuses
	NotFound                    // no such item, or none the caller may see
	Conflict                    // the item exists with other content
	InFlight                    // the same invocation id is still running
	Indeterminate               // it is not known whether the effect happened
	OverBudget                  // the durable budget guard refused the spend
	LeaseLost                   // the episode's fencing epoch is no longer ours
	Unsupported                 // a declared effect has no handler here
	PlanLaw                     // a transition's plan breaks a plan law
	Limit                       // a size, step, memory or time limit was reached
	Failed                      // the effect or program ran and failed
	Corrupt                     // stored bytes do not say what they must
	Uncertain                   // a commit was sent and its reply was lost
	Locked                      // another writer holds the store
	Version                     // a schema or format of another version
	Unavailable                 // a part this needs is not there
	Timeout                     // a deadline passed
	HeadMoved                   // the log grew past the head that was named
)

var names = [...]string{
	"internal", "invalid", "unauthenticated", "denied", "not found", "conflict",
	"in flight", "indeterminate", "over budget", "lease lost", "unsupported",
	"plan law", "limit", "failed", "corrupt", "uncertain", "locked", "version",
	"unavailable", "timeout", "head moved",
}

// String returns the kind's fixed text.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(names) {
		panic("fault: kind outside its enumeration")
	}
	return names[k]
}

// ParseKind is the inverse of String.
func ParseKind(text string) (Kind, bool) {
	i := slices.Index(names[:], text)
	return Kind(max(i, 0)), i >= 0
}

// Error is one failed operation.
type Error struct {
	Op     string // package and verb, such as "store: intend"
	Kind   Kind
	Detail string // names the item; safe to show
	Cause  error  // for logs only
}

// New returns an error whose detail is formatted and safe to show.
func New(op string, kind Kind, format string, args ...any) *Error {
	return &Error{Op: op, Kind: kind, Detail: fmt.Sprintf(format, args...)}
}

// Wrap returns an error with a cause that only logs may see.
func Wrap(op string, kind Kind, cause error, format string, args ...any) *Error {
	return &Error{Op: op, Kind: kind, Detail: fmt.Sprintf(format, args...), Cause: cause}
}

// Error renders operation, kind, detail and cause, for logs and operators.
func (e *Error) Error() string {
	text := e.Op + ": " + e.Kind.String()
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// KindOf returns the kind of the outermost Error in err's tree, or Internal.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// Is reports whether err carries an Error of this kind outermost.
func Is(err error, kind Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == kind
}

// Detail returns the detail of the outermost Error in err's tree, "" for any
// other error and for kind Internal: never a cause.
func Detail(err error) string {
	var e *Error
	if !errors.As(err, &e) || e.Kind == Internal {
		return ""
	}
	return e.Detail
}

// Public returns what an agent may see of err: its kind and detail, never a cause.
func Public(err error) string {
	kind := KindOf(err).String()
	if detail := Detail(err); detail != "" {
		return kind + ": " + detail
	}
	return kind
}
