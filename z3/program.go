// Package z3 drives SMT solvers as processes that speak SMT-LIB 2 on their
// standard streams: z3, and cvc5 as the second opinion.
//
// It promises that every question has a time limit, after which the solver is
// killed; that a solver which is absent, killed, slow or complaining is a typed
// error that names the solver and where it was; that a solver's whole process
// group ends with its Close; and that the solver ends with its parent, however
// that ends. What a solver starts and moves to another group is not found again,
// and when the parent is killed, what a script in the solver's place has started
// goes on until its pipes fail: such a script does well to exec the solver. The
// package does not judge what is asked: texts come from our own files and generators.
package z3

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"strings"
	"time"

	"world/fault"
	"world/spec/smtlib"
)

// Program is a solver's executable.
type Program struct {
	Name string // how tables and errors call it: "z3" or "cvc5"
	Path string // executable, looked up on PATH when it has no slash
	args []string
}

// Z3 is the first solver. Relevancy filtering is off because with it z3 4.8.12
// does not finish on arrays indexed by bit-vectors.
func Z3(path string) Program {
	return Program{"z3", path, []string{"-in", "-smt2", "smt.relevancy=0"}}
}

// CVC5 is the second opinion. Laws about prefixes of text need its whole theory of
// strings.
func CVC5(path string) Program {
	return Program{"cvc5", path, []string{"--lang=smt2", "--produce-models", "--strings-exp"}}
}

// maxBanner is how many bytes of --version are read.
const maxBanner = 64 << 10

// Version returns the solver's version, such as "4.8.12", if it says so within
// limit.
func (p Program) Version(ctx context.Context, limit time.Duration) (string, error) {
	const op = "z3: version"
	c, err := p.spawn("--version")
	if err != nil {
		return "", err
	}
	defer c.end()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer context.AfterFunc(ctx, c.kill)()
	lines := bufio.NewScanner(io.LimitReader(c.out, maxBanner))
	for lines.Scan() {
		for _, word := range strings.Fields(lines.Text()) {
			if word[0] >= '0' && word[0] <= '9' {
				return word, nil
			}
		}
	}
	switch ctx.Err() {
	case nil:
		return "", fault.New(op, fault.Failed, "solver %s does not say its version", p.Name)
	case context.Canceled:
		return "", fault.Wrap(op, fault.Timeout, ctx.Err(), "solver %s was stopped", p.Name)
	}
	return "", fault.New(op, fault.Timeout, "solver %s did not say its version within %s", p.Name, limit)
}

// Start starts the solver. Every question may take up to limit; ending ctx kills
// the solver. Where names what the solver is for, in errors.
func (p Program) Start(ctx context.Context, limit time.Duration, where string) (*Process, error) {
	c, err := p.spawn(p.args...)
	if err != nil {
		return nil, err
	}
	s := &Process{
		program: p, limit: limit, where: where,
		child: c, out: smtlib.NewReader("the answer of "+p.Name, c.out), line: 1,
	}
	s.unwatch = context.AfterFunc(ctx, func() { s.kill(ctx.Err()) })
	return s, nil
}

func (p Program) notStarted(err error) error {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return fault.Wrap("z3: start", fault.Unavailable, err, "solver %s is not installed", p.Name)
	}
	return fault.Wrap("z3: start", fault.Unavailable, err, "solver %s does not start", p.Name)
}
