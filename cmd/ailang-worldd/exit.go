package main

import (
	"errors"

	"world/fault"
)

const (
	exitDone      = 0
	exitRefused   = 1 // usage, refusal, or a request that came to nothing
	exitStore     = 2 // the store or the start failed
	exitIntegrity = 3 // evidence does not hold
)

// exit is an error with an exit code. Without an inner error the verb has said
// everything itself, and only the code is left to report.
type exit struct {
	code int
	err  error
}

func (e exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e exit) Unwrap() error { return e.err }

// exitCode reads the code of an error: the one it carries, else the one that
// belongs to its kind.
func exitCode(err error) int {
	var e exit
	if errors.As(err, &e) {
		return e.code
	}
	var f *fault.Error
	if !errors.As(err, &f) {
		return exitRefused // flags and arguments
	}
	switch f.Kind {
	case fault.Corrupt:
		return exitIntegrity
	case fault.Internal, fault.Locked, fault.Version, fault.Unavailable, fault.Uncertain, fault.Timeout:
		return exitStore
	}
	return exitRefused
}
