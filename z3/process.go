package z3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"world/fault"
	"world/spec"
	"world/spec/smtlib"
)

// Process is a running solver. It is for one goroutine at a time. After an
// error it is good for nothing but Close.
type Process struct {
	program Program
	limit   time.Duration
	where   string

	child   *child
	out     *smtlib.Reader
	unwatch func() bool

	line     int      // of the next byte to send, from 1, as the solver counts
	sent     []placed // texts sent, to find a line again
	rounds   int      // questions asked, to tell their ends apart
	modelled bool     // a model was asked for, so values can be

	mu     sync.Mutex
	killed error // why we killed it, nil if we did not
}

type placed struct {
	file string
	line int // of its first byte
}

// maxAnswers is how many expressions one question may be answered with.
const maxAnswers = 1 << 20

// Answer is the answer to check-sat.
type Answer string

const (
	Sat     Answer = "sat"
	Unsat   Answer = "unsat"
	Unknown Answer = "unknown"
)

// At says what the next questions are about, for errors.
func (s *Process) At(where string) { s.where = where }

// Tell sends text that asks nothing, such as definitions. A complaint of the
// solver is fault.Invalid and begins with the file and line it is about.
func (s *Process) Tell(chunks ...spec.Chunk) error {
	answers, err := s.Ask(chunks...)
	if err == nil && len(answers) > 0 {
		return s.fault(fault.Failed, nil, "answered %s where nothing was asked", answers[0])
	}
	return err
}

// CheckSat sends text and asks whether what has been asserted can be satisfied.
func (s *Process) CheckSat(chunks ...spec.Chunk) (Answer, error) {
	answers, err := s.Ask(append(chunks, spec.Chunk{File: "check-sat", Text: "(check-sat)\n"})...)
	if err != nil {
		return "", err
	}
	if len(answers) == 1 {
		switch a := Answer(answers[0].Atom); a {
		case Sat, Unsat, Unknown:
			return a, nil
		}
	}
	return "", s.fault(fault.Failed, nil, "answered check-sat with %d expressions", len(answers))
}

// Ask sends texts and returns every expression that the solver answers to them.
func (s *Process) Ask(chunks ...spec.Chunk) ([]smtlib.Node, error) {
	timer := time.AfterFunc(s.limit, func() { s.kill(context.DeadlineExceeded) })
	defer timer.Stop()
	s.rounds++
	end := fmt.Sprintf("end-of-round-%d", s.rounds)
	text := s.place(append(chunks, spec.Chunk{File: "the end mark", Text: `(echo "` + end + "\")\n"}))
	// Written beside the reading: a solver that answers before it has read
	// everything must not leave the two of us waiting for each other.
	wrote := make(chan error, 1)
	go func() {
		_, err := io.WriteString(s.child.in, text)
		wrote <- err
	}()
	answers, err := s.read(end)
	if err != nil {
		s.kill(err)
		<-wrote
		return nil, s.explain(err)
	}
	if err := <-wrote; err != nil {
		return nil, s.explain(err)
	}
	return answers, nil
}

func (s *Process) read(end string) ([]smtlib.Node, error) {
	var answers []smtlib.Node
	for {
		n, err := s.out.Read()
		if err != nil {
			return nil, err
		}
		if n.Text() == end {
			return answers, nil
		}
		if n.Head() == "error" && len(n.List) == 2 {
			return nil, s.complaint(n.List[1].Text())
		}
		if len(answers) == maxAnswers {
			return nil, s.fault(fault.Limit, nil, "gives more than %d answers", maxAnswers)
		}
		answers = append(answers, n)
	}
}

// place joins texts and remembers the line at which each begins.
func (s *Process) place(chunks []spec.Chunk) string {
	var text string
	for _, c := range chunks {
		s.sent = append(s.sent, placed{c.File, s.line})
		text += c.Text
		for i := range len(c.Text) {
			if c.Text[i] == '\n' {
				s.line++
			}
		}
	}
	return text
}

// kill ends the solver for a reason; the first reason stays.
func (s *Process) kill(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.killed == nil {
		s.killed = why
	}
	s.child.kill()
}

// explain says why the solver could not be talked to.
func (s *Process) explain(err error) error {
	s.mu.Lock()
	why := s.killed
	s.mu.Unlock()
	var own *fault.Error
	switch {
	case why == context.DeadlineExceeded:
		return s.fault(fault.Timeout, nil, "gave no answer within %s", s.limit)
	case why == context.Canceled:
		return s.fault(fault.Timeout, why, "was stopped")
	case errors.As(err, &own):
		return own
	}
	return s.fault(fault.Failed, err, "died")
}

func (s *Process) fault(kind fault.Kind, cause error, format string, args ...any) error {
	detail := fmt.Sprintf("solver %s at %s ", s.program.Name, s.where) + fmt.Sprintf(format, args...)
	if cause != nil {
		return fault.Wrap("z3: ask", kind, cause, "%s", detail)
	}
	return fault.New("z3: ask", kind, "%s", detail)
}

// Close kills the solver and waits for it. It keeps no state worth asking for.
func (s *Process) Close() {
	s.unwatch()
	s.kill(context.Canceled)
	s.child.end()
}
