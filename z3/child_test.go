package z3_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"world/fault"
	"world/fault/await"
	"world/z3"
)

// withChild is a solver that is a script: it starts a process that writes its own
// number to a file, holds the script's streams and stays.
func withChild(t *testing.T, how string) (p z3.Program, pid func() int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pid")
	p = fake(t, how+" sh -c 'echo $$ >\"$0\".new; mv \"$0\".new \"$0\"; exec sleep 1000' '"+file+"'\n")
	return p, func() int {
		var text []byte
		await.That(t, "the solver's child starts", func() (there bool) {
			var err error
			text, err = os.ReadFile(file)
			return err == nil
		})
		n, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
}

func gone(t *testing.T, pid int) {
	t.Helper()
	await.That(t, "the process that the solver started is gone", func() bool { return !runs(pid) })
}

func TestASlowSolverEndsWithWhatItStarted(t *testing.T) {
	p, pid := withChild(t, "")
	s := start(t, p, 300*time.Millisecond)
	began := time.Now()
	if _, err := s.CheckSat(chunk("(set-logic ALL)\n")); !fault.Is(err, fault.Timeout) || !strings.Contains(err.Error(), "gave no answer within 300ms") {
		t.Errorf("got %v", err)
	}
	s.Close()
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("took %s", took)
	}
	gone(t, pid())
}

func TestClosingEndsWhatTheSolverStarted(t *testing.T) {
	p, pid := withChild(t, "")
	s := start(t, p, time.Minute)
	n := pid()
	if !runs(n) {
		t.Fatalf("process %d does not run before", n)
	}
	s.Close()
	gone(t, n)
}

func TestEndingTheContextEndsWhatTheSolverStarted(t *testing.T) {
	p, pid := withChild(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	s, err := p.Start(ctx, time.Minute, "the test")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n := pid()
	cancel()
	gone(t, n)
	if _, err := s.CheckSat(chunk("(set-logic ALL)\n")); !fault.Is(err, fault.Timeout) || !strings.Contains(err.Error(), "was stopped") {
		t.Errorf("got %v", err)
	}
}

// A process that left the group keeps its pipes, and nobody waits for it.
func TestAProcessThatLeftTheGroupHoldsNobodyUp(t *testing.T) {
	p, pid := withChild(t, "setsid")
	s := start(t, p, 300*time.Millisecond)
	if _, err := s.CheckSat(chunk("(set-logic ALL)\n")); !fault.Is(err, fault.Timeout) {
		t.Errorf("got %v", err)
	}
	s.Close()
	left, err := os.FindProcess(pid())
	if err != nil {
		t.Fatal(err)
	}
	left.Kill()
}

func TestAVersionIsBounded(t *testing.T) {
	p, pid := withChild(t, "")
	if _, err := p.Version(t.Context(), 300*time.Millisecond); !fault.Is(err, fault.Timeout) || !strings.HasSuffix(fault.Public(err), ": solver z3 did not say its version within 300ms") {
		t.Errorf("a slow one: %v", err)
	}
	gone(t, pid())
	p, pid = withChild(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	said := make(chan error, 1)
	go func() {
		_, err := p.Version(ctx, time.Minute)
		said <- err
	}()
	n := pid()
	cancel()
	if err := <-said; !fault.Is(err, fault.Timeout) || !strings.Contains(fault.Public(err), "solver z3 was stopped") {
		t.Errorf("an interrupted one: %v", err)
	}
	gone(t, n)
	for name, script := range map[string]string{
		"lines without end":   "exec yes\n",
		"a line without end":  "exec tr '\\0' a </dev/zero\n",
		"words and then more": "yes | head -c 100000; echo 4.8.12\n",
	} {
		if _, err := fake(t, script).Version(t.Context(), time.Minute); !fault.Is(err, fault.Failed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A version that is said at once is not waited for.
	p = fake(t, "echo version 1.2.3; sleep 1000\n")
	if v, err := p.Version(t.Context(), time.Minute); err != nil || v != "1.2.3" {
		t.Errorf("got %q, %v", v, err)
	}
	if left := children(t); len(left) != 0 {
		t.Errorf("processes %v are left", left)
	}
}
