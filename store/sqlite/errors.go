package sqlite

import (
	"errors"

	lib "modernc.org/sqlite/lib"

	"world/fault"
)

// asFault turns an error of the engine into one of ours. Ours pass unchanged, so
// that the innermost operation that knew the kind keeps its word.
func asFault(op string, err error) error {
	var ours *fault.Error
	if err == nil || errors.As(err, &ours) {
		return err
	}
	var theirs *libError
	if !errors.As(err, &theirs) {
		return fault.Wrap(op, fault.Internal, err, "")
	}
	switch theirs.code & 0xff {
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB, lib.SQLITE_FORMAT:
		return fault.Wrap(op, fault.Corrupt, err, "the database file is damaged")
	case lib.SQLITE_ERROR, lib.SQLITE_MISMATCH: // our statements fit our schema, so it is another
		return fault.Wrap(op, fault.Corrupt, err, "the schema is not the one this build writes")
	case lib.SQLITE_FULL:
		return fault.Wrap(op, fault.Unavailable, err, "the disk is full")
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_IOERR, lib.SQLITE_NOMEM,
		lib.SQLITE_READONLY, lib.SQLITE_CANTOPEN, lib.SQLITE_PERM:
		return fault.Wrap(op, fault.Unavailable, err, "the database file cannot be used")
	}
	return fault.Wrap(op, fault.Internal, err, "")
}
