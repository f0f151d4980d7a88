// Package guard keeps a publishing credential away from every program of World.
//
// It promises that a program which calls Enforce first does nothing at all while
// the credential is in its environment, and that the value is never printed. It
// does not look anywhere else for secrets. Source: DESIGN D20.
package guard

import (
	"fmt"
	"os"

	"world/fault"
)

// Variable is the credential that no process of World may hold.
const Variable = "AILANG_REGISTRY_API_KEY"

// exitCode is that of a fatal start.
const exitCode = 2

// Check refuses, kind Denied, while the variable is non-empty.
func Check() error {
	if os.Getenv(Variable) == "" {
		return nil
	}
	return fault.New("guard: check", fault.Denied,
		"%s is set in the environment; unset it and start again", Variable)
}

// Enforce ends the process with exit code 2 when Check refuses. Each main calls it first.
func Enforce(program string) {
	if err := Check(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: refusing to start: %s\n", program, fault.Public(err))
		os.Exit(exitCode)
	}
}
