// Package capsule runs transitions: pure functions from one input to one output, in
// a jail, with no capability, by an interpreter whose bytes are hashed as they run.
package capsule

import (
	"context"

	"world/store"
)

// Program is a pure function pinned by hash: source, and the interpreter that runs it.
type Program struct {
	Interpreter store.Ref
	Source      []byte
}

// Runner runs pure functions. Run hands input to the program and returns its
// output bytes, both at most 4 MiB. Errors: Corrupt when the archived interpreter
// is not the bytes its ref names, Unavailable when it is absent or the jail's floor
// cannot be reached, Limit when a bound was hit, Failed when the program itself
// failed, Invalid when the source does not follow the calling convention (R9).
type Runner interface {
	Run(ctx context.Context, program Program, input []byte) ([]byte, error)
}
