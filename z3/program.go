// Package z3 drives SMT solvers as processes that speak SMT-LIB 2 on their
// standard streams: z3, and cvc5 as the second opinion.
//
// It promises that every question has a time limit, after which the solver is
// killed; that a solver which is absent, killed, slow or complaining is a typed
// error that names the solver and where it was; and that no process outlives
// its Close or its parent. It does not judge what is asked: texts come from our
// own files and generators.
package z3

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"syscall"
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

// Version returns the solver's version, such as "4.8.12".
func (p Program) Version(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, p.Path, "--version").Output()
	if err != nil {
		return "", p.notStarted(err)
	}
	for _, word := range bytes.Fields(out) {
		if word[0] >= '0' && word[0] <= '9' {
			return string(word), nil
		}
	}
	return "", fault.New("z3: version", fault.Failed, "solver %s does not say its version", p.Name)
}

// Start starts the solver. Every question may take up to limit; ending ctx kills
// the solver. Where names what the solver is for, in errors.
func (p Program) Start(ctx context.Context, limit time.Duration, where string) (*Process, error) {
	cmd := exec.Command(p.Path, p.args...)
	// Its own group, so that a terminal's interrupt is ours to pass on; and the
	// kernel ends it with us, even when we are killed in the middle of a proof.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, p.notStarted(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, p.notStarted(err)
	}
	if err := cmd.Start(); err != nil {
		return nil, p.notStarted(err)
	}
	s := &Process{
		program: p, limit: limit, where: where,
		cmd: cmd, in: in, out: smtlib.NewReader("the answer of "+p.Name, out), line: 1,
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
