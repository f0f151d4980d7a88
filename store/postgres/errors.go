package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"

	"world/fault"
)

// SQLSTATE codes that are told apart.
const (
	stateGuard        = "22012" // division by zero: a guard counted other rows than it must
	stateUnique       = "23505"
	stateUnknown      = "40003" // of COMMIT: the server itself does not know
	classConnection   = "08"    // its states say as little
	stateDiskFull     = "53100"
	stateSerialize    = "40001"
	stateDeadlock     = "40P01"
	stateBadText      = "22021"
	stateDataDamaged  = "XX001"
	stateIndexDamaged = "XX002"
)

// asFault turns an error of the driver or the server into one of ours. Ours pass
// unchanged, so that the innermost operation that knew the kind keeps its word.
func asFault(ctx context.Context, op string, err error) error {
	var ours *fault.Error
	if err == nil || errors.As(err, &ours) {
		return err
	}
	if ctx.Err() != nil {
		return fault.Wrap(op, fault.Timeout, errors.Join(context.Cause(ctx), err), "the call ended before the database answered")
	}
	var theirs *pgconn.PgError
	if !errors.As(err, &theirs) {
		if errors.Is(err, puddle.ErrClosedPool) {
			return fault.New(op, fault.Unavailable, "the store is closed")
		}
		return fault.Wrap(op, fault.Unavailable, err, "the database cannot be reached")
	}
	switch state := theirs.Code; {
	case state == stateDataDamaged, state == stateIndexDamaged:
		return fault.Wrap(op, fault.Corrupt, err, "the database is damaged")
	case state == stateBadText:
		return fault.Wrap(op, fault.Invalid, err, "a text is not UTF-8 without NUL")
	case state == stateDiskFull:
		return fault.Wrap(op, fault.Unavailable, err, "the disk is full")
	case strings.HasPrefix(state, "42"), strings.HasPrefix(state, "3F"): // our statements fit our schema, so it is another
		return fault.Wrap(op, fault.Corrupt, err, "the schema is not the one this build writes, or may not be used")
	case strings.HasPrefix(state, "22"), strings.HasPrefix(state, "23"), strings.HasPrefix(state, "XX"):
		return fault.Wrap(op, fault.Internal, err, "")
	}
	return fault.Wrap(op, fault.Unavailable, err, "the database refused")
}

// state returns the SQLSTATE that the server answered with, "" without an answer.
func state(err error) string {
	var theirs *pgconn.PgError
	if errors.As(err, &theirs) {
		return theirs.Code
	}
	return ""
}

// passing reports whether the same change may succeed when it is run again: it
// raced with another writer, or its connection was lost.
func passing(err error) bool {
	switch state(err) {
	case "": // no answer
		var ours *fault.Error
		return err != nil && !errors.As(err, &ours)
	case stateGuard, stateUnique, stateSerialize, stateDeadlock:
		return true
	}
	return fatal(err)
}

// fatal reports whether the server ended the connection with its answer.
func fatal(err error) bool {
	var theirs *pgconn.PgError
	return errors.As(err, &theirs) && (theirs.SeverityUnlocalized == "FATAL" || theirs.SeverityUnlocalized == "PANIC")
}
