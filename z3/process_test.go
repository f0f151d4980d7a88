package z3_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"world/fault"
	"world/fault/await"
	"world/spec"
	"world/z3"
)

func TestMain(m *testing.M) {
	if os.Getenv("WORLD_TEST_ORPHAN") != "" {
		orphan()
		return
	}
	goleak.VerifyTestMain(m)
}

var both = []z3.Program{z3.Z3("z3"), z3.CVC5("cvc5")}

// hard is a question that neither solver settles in a minute: the factors of
// the product of two random primes of 63 and 64 bits.
const hard = `(set-logic ALL)
(declare-const a (_ BitVec 64))
(declare-const b (_ BitVec 64))
(assert (= (bvmul ((_ zero_extend 64) a) ((_ zero_extend 64) b)) #x31df7c0a0f37b8f6d904767af798ed81))
(assert (bvult a b))
(assert (bvult #x0000000000000001 a))`

func chunk(text string) spec.Chunk { return spec.Chunk{File: "test.smt2", Text: text} }

func start(t *testing.T, p z3.Program, limit time.Duration) *z3.Process {
	t.Helper()
	s, err := p.Start(context.Background(), limit, "the test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestBothSolversAnswer(t *testing.T) {
	for _, p := range both {
		s := start(t, p, time.Minute)
		a, err := s.CheckSat(chunk("(set-logic ALL)\n(declare-const x Int)\n(assert (< 1 x 3))\n"))
		if err != nil || a != z3.Sat {
			t.Fatalf("%s: %s, %v", p.Name, a, err)
		}
		values, err := s.Ask(chunk("(get-value (x))\n"))
		if err != nil || len(values) != 1 || values[0].String() != "((x 2))" {
			t.Fatalf("%s: %v, %v", p.Name, values, err)
		}
		if a, err := s.CheckSat(chunk("(reset)\n(set-logic ALL)\n(assert false)\n")); err != nil || a != z3.Unsat {
			t.Fatalf("%s: %s, %v", p.Name, a, err)
		}
		if v, err := p.Version(context.Background(), time.Minute); err != nil || !strings.Contains(v, ".") {
			t.Errorf("%s: version %q, %v", p.Name, v, err)
		}
	}
}

func TestAnAbsentSolverIsNamed(t *testing.T) {
	notRunnable := filepath.Join(t.TempDir(), "z3")
	if err := os.WriteFile(notRunnable, []byte("no program"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"no-such-solver", "/no/such/solver", notRunnable} {
		for _, p := range []z3.Program{z3.Z3(path), z3.CVC5(path)} {
			_, err := p.Start(context.Background(), time.Minute, "the test")
			if !fault.Is(err, fault.Unavailable) || !strings.Contains(fault.Public(err), "solver "+p.Name+" is not installed") {
				t.Errorf("%s at %s: %v", p.Name, path, err)
			}
			if strings.Contains(fault.Public(err), path) {
				t.Errorf("%s: the public text holds the path: %s", p.Name, fault.Public(err))
			}
			if _, err := p.Version(context.Background(), time.Minute); !fault.Is(err, fault.Unavailable) {
				t.Errorf("%s: version of %s: %v", p.Name, path, err)
			}
		}
	}
}

func TestASlowSolverIsKilledAtItsLimit(t *testing.T) {
	for _, p := range both {
		s := start(t, p, 300*time.Millisecond)
		began := time.Now()
		_, err := s.CheckSat(chunk(hard))
		if !fault.Is(err, fault.Timeout) || !strings.Contains(err.Error(), "solver "+p.Name+" at the test gave no answer within 300ms") {
			t.Errorf("%s: %v", p.Name, err)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s: took %s", p.Name, took)
		}
		if _, err := s.CheckSat(); err == nil {
			t.Errorf("%s answers after it was killed", p.Name)
		}
	}
}

func TestEndingTheContextEndsTheSolver(t *testing.T) {
	for _, p := range both {
		ctx, cancel := context.WithCancel(context.Background())
		s, err := p.Start(ctx, time.Minute, "the test")
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(200*time.Millisecond, cancel)
		if _, err := s.CheckSat(chunk(hard)); !fault.Is(err, fault.Timeout) || !strings.Contains(err.Error(), "was stopped") {
			t.Errorf("%s: %v", p.Name, err)
		}
		s.Close()
	}
}

func TestAKilledSolverIsNamed(t *testing.T) {
	for _, p := range both {
		s := start(t, p, time.Minute)
		if err := s.Tell(chunk("(set-logic ALL)\n")); err != nil {
			t.Fatal(err)
		}
		pids := children(t)
		if len(pids) != 1 {
			t.Fatalf("%d solvers run, want 1", len(pids))
		}
		if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if _, err := s.CheckSat(chunk(hard)); !fault.Is(err, fault.Failed) || !strings.Contains(err.Error(), "solver "+p.Name+" at the test died") {
			t.Errorf("%s: %v", p.Name, err)
		}
		s.Close()
	}
}

func TestCloseLeavesNoProcess(t *testing.T) {
	for _, p := range both {
		s := start(t, p, time.Minute)
		if err := s.Tell(chunk("(set-logic ALL)\n")); err != nil {
			t.Fatal(err)
		}
		if n := len(children(t)); n != 1 {
			t.Fatalf("%d solvers run, want 1", n)
		}
		s.Close()
		if left := children(t); len(left) != 0 {
			t.Errorf("%s: process %v is left", p.Name, left)
		}
	}
}

// A solver in the middle of a proof goes when its parent is killed.
func TestASolverDiesWithItsParent(t *testing.T) {
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), "WORLD_TEST_ORPHAN=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	defer parent.Wait()
	line, err := bufio.NewReader(out).ReadString('\n')
	pid, convErr := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || convErr != nil {
		parent.Process.Kill()
		t.Fatalf("the parent says %q: %v %v", line, err, convErr)
	}
	if !runs(pid) {
		t.Errorf("solver %d does not run before its parent is killed", pid)
	}
	parent.Process.Kill()
	await.That(t, "the solver has ended with its parent", func() bool { return !runs(pid) })
}

// orphan is the parent of that test: it starts a hard proof and says whose.
func orphan() {
	s, err := z3.Z3("z3").Start(context.Background(), time.Minute, "an orphan")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	if err := s.Tell(chunk("(set-logic ALL)\n")); err != nil {
		fmt.Println(err)
		return
	}
	for _, pid := range childrenOf(os.Getpid()) {
		fmt.Println(pid)
	}
	s.CheckSat(chunk("(reset)\n" + hard))
}

// children are the processes that this one started and has not waited for.
func children(t *testing.T) []int {
	t.Helper()
	return childrenOf(os.Getpid())
}

func childrenOf(parent int) []int {
	var out []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			out = append(out, pid)
		}
	}
	return out
}

// runs reports whether a process is there and not a zombie.
func runs(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	return len(fields) > 0 && fields[0] != "Z"
}
