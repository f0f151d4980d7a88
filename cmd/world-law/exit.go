package main

import (
	"errors"
	"strings"

	"world/fault"
)

const (
	exitDone    = 0
	exitNot     = 1 // tried, and not proved or not as it should be
	exitUntried = 2 // could not be tried
)

// errNot ends a verb whose output has said what is not as it should be.
type errNot string

func (e errNot) Error() string { return string(e) }

// exitCode separates what was tried and came out wrong from what could not be
// tried, usage included.
func exitCode(err error) int {
	var not errNot
	if errors.As(err, &not) || fault.Is(err, fault.Timeout) {
		return exitNot
	}
	return exitUntried
}

// oneLine is an error for an operator: where it was and what is wrong.
func oneLine(err error) string {
	var f *fault.Error
	text := err.Error()
	if errors.As(err, &f) && f.Detail != "" {
		text = f.Detail
	}
	return strings.ReplaceAll(text, "\n", " ")
}
