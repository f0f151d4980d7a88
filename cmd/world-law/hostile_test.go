package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"world/fault/await"
)

// ownProcess is world-law in a process of its own, its error output kept.
func ownProcess(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, &errs
}

// ends waits for a process for a while that a test may take, and returns its exit code.
func ends(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	late := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	cmd.Wait()
	if !late.Stop() {
		t.Errorf("%q does not end", cmd.Args[1:])
	}
	return cmd.ProcessState.ExitCode()
}

// A pipe that nobody writes, a device and a folder are refused wherever a file is
// named, in one line and at once.
func TestWhatIsNoFileIsRefused(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.smt2")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	piped := edited(t, "", "", "")
	if err := os.Remove(filepath.Join(piped, "decision.smt2")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(piped, "decision.smt2"), 0o600); err != nil {
		t.Fatal(err)
	}
	journals := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(journals, "1.journal.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := []string{"--request", "A=b:1"}
	for _, args := range [][]string{
		{"diff", pipe}, {"diff", "--base", pipe, pipe}, {"diff", "/dev/zero"}, {"diff", t.TempDir()},
		{"prove", pipe}, {"prove", "--law", pipe}, {"prove", "precedence", "--spec", piped},
		append([]string{"decide", "--law", pipe}, ask...),
		{"compare", "--a", "A=b:1", "--b", "A=b:1", "--law", pipe},
		{"drift", "--inputs", "10", "--resume", pipe},
		{"report", "--html", filepath.Join(t.TempDir(), "p.html"), "--mutants", pipe, "--inputs", "10", "debit"},
		{"trace", journals},
	} {
		cmd, errs := ownProcess(t, args...)
		if code := ends(t, cmd); code != exitUntried || strings.Count(errs.String(), "\n") != 1 ||
			!strings.Contains(errs.String(), "is not a regular file") && !strings.Contains(errs.String(), "spec/z3/decision.smt2 cannot be read") {
			t.Errorf("%q: exit %d: %s", args, code, errs)
		}
	}
}

// A page is not written into a pipe that nobody reads.
func TestAPageWaitsForNoReader(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "page")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(pipe, []byte("page")); !errors.Is(err, syscall.ENXIO) {
		t.Errorf("got %v", err)
	}
	if err := writeFile(pipe+".html", []byte("page")); err != nil {
		t.Error(err)
	}
}

// slowSolver is a script that starts a process which stays, and whose number is
// in the file that comes to be.
func slowSolver(t *testing.T) (path, pid string) {
	t.Helper()
	dir := t.TempDir()
	path, pid = filepath.Join(dir, "slow"), filepath.Join(dir, "pid")
	script := "#!/bin/sh\nsh -c 'echo $$ >" + pid + ".new; mv " + pid + ".new " + pid + "; exec sleep 1000'\n"
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path, pid
}

func started(t *testing.T, file string) int {
	t.Helper()
	var text []byte
	await.That(t, "the solver starts", func() bool {
		read, err := os.ReadFile(file)
		text = read
		return err == nil
	})
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func goes(t *testing.T, pid int) {
	t.Helper()
	await.That(t, fmt.Sprintf("process %d, which a solver started, is gone", pid), func() bool {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return err != nil || strings.Contains(string(stat), ") Z ")
	})
}

// A solver that waits for a process of its own is a slow solver: it is named at
// its limit, and both are gone. So it is when a signal comes first.
func TestASlowSolverScript(t *testing.T) {
	half := lawFile(t, "(le zero (now r)) ", "")
	verbs := [][]string{
		{"diff", half}, {"decide", "--request", "A=b:1"}, {"compare", "--a", "A=b:1", "--b", "A=b:2"}, {"prove", "precedence"}, {"validate"},
	}
	for _, args := range verbs {
		for _, which := range []string{"z3", "cvc5"} {
			slow, pid := slowSolver(t)
			cmd, errs := ownProcess(t, append(args, "--limit", "700ms", "--"+which, slow)...)
			code := ends(t, cmd)
			if code != exitNot || strings.Count(errs.String(), "\n") != 1 || !strings.Contains(errs.String(), "solver "+which+" ") {
				t.Errorf("%q with a slow %s: exit %d: %s", args, which, code, errs)
			}
			goes(t, started(t, pid))
		}
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		for _, args := range verbs {
			slow, pid := slowSolver(t)
			cmd, errs := ownProcess(t, append(args, "--limit", "10m", "--z3", slow)...)
			inner := started(t, pid)
			cmd.Process.Signal(signal)
			if code := ends(t, cmd); code == exitDone || strings.Count(errs.String(), "\n") != 1 {
				t.Errorf("%q after %s: exit %d: %s", args, signal, code, errs)
			}
			goes(t, inner)
		}
	}
}

// What a verb is busy with need not ask for a signal.
func TestASignalEndsWhatDoesNotAsk(t *testing.T) {
	reads := filepath.Join(t.TempDir(), "go")
	begun := filepath.Join(t.TempDir(), "begun")
	script := "#!/bin/sh\necho $$ >" + begun + ".new; mv " + begun + ".new " + begun + "; exec sleep 20\n"
	if err := os.WriteFile(reads, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "validate")
	cmd.Env = append(os.Environ(), asProgram+"=1", "PATH="+filepath.Dir(reads)+":"+os.Getenv("PATH"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inner := started(t, begun)
	defer syscall.Kill(inner, syscall.SIGKILL)
	began := time.Now()
	cmd.Process.Signal(syscall.SIGTERM)
	if code := ends(t, cmd); code != exitUntried || time.Since(began) > 15*time.Second {
		t.Errorf("exit %d after %s", code, time.Since(began))
	}
}
