package confine

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// WithoutOuter makes the jail behave as where only bubblewrap may make namespaces.
func (j *Jail) WithoutOuter() *Jail {
	return &Jail{stage: j.stage, hidden: j.hidden, bwrap: j.bwrap, reach: j.reach}
}

// AddSystemDir makes a directory one of the system's, where somebody may keep what is
// for himself, until the test ends.
func AddSystemDir(t testing.TB, dir string) {
	was, kept := systemDirs, keepsOwn
	set := func(system, keeps []string) {
		own.Lock()
		defer own.Unlock()
		systemDirs, keepsOwn, own.looked = system, keeps, time.Time{}
	}
	set(append(slices.Clone(was), dir), append(slices.Clone(kept), dir))
	t.Cleanup(func() { set(was, kept) })
}

// Waiting returns how many processes wait for a run, and how many of them have come
// so far as to wait for their input.
func (j *Jail) Waiting() (all, ready int) {
	j.pool.mu.Lock()
	defer j.pool.mu.Unlock()
	for _, h := range j.pool.kinds {
		for _, r := range h.ready {
			if r.isUp() {
				ready++
			}
		}
	}
	return j.pool.waiting, ready
}

// WaitsFor returns how many processes wait for runs like this one.
func (j *Jail) WaitsFor(s Spec) int {
	k, err := j.kindOf(s)
	if err != nil {
		panic(err)
	}
	j.pool.mu.Lock()
	defer j.pool.mu.Unlock()
	if h := j.pool.kinds[k]; h != nil {
		return len(h.ready)
	}
	return 0
}

// Age makes everything that waits, and every kind, as old as it may get.
func (j *Jail) Age() {
	j.pool.mu.Lock()
	for _, h := range j.pool.kinds {
		h.used = h.used.Add(-maxAge)
		for _, r := range h.ready {
			r.began = r.began.Add(-maxAge)
		}
	}
	j.pool.mu.Unlock()
	j.pool.sweep()
}

// Kinds returns how many kinds of runs are remembered.
func (j *Jail) Kinds() int {
	j.pool.mu.Lock()
	defer j.pool.mu.Unlock()
	return len(j.pool.kinds)
}

// KillWaiting kills what waits, behind the jail's back.
func (j *Jail) KillWaiting() {
	j.pool.mu.Lock()
	defer j.pool.mu.Unlock()
	for _, h := range j.pool.kinds {
		for _, r := range h.ready {
			r.cmd.Process.Kill()
		}
	}
}

// Alone is a first stage without a daemon.
type Alone struct {
	cmd              *exec.Cmd
	lifeline, report *os.File
}

// StageAlone starts a first stage at level process.
func StageAlone(t testing.TB, image *Image, wall time.Duration, program bool, args ...string) Alone {
	t.Helper()
	lifeline, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	report, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	o := order{Level: Process, Wall: wall, Args: args, Limits: Limits{
		CPU: time.Minute, Memory: 256 << 20, FileSize: 1 << 20, Files: 64, Processes: 64,
	}}
	files := []*os.File{image.file, lifeline, write}
	if program {
		o.Program = 3 + len(files)
		files = append(files, image.file)
	}
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/fd/3", stageVerb, string(text))
	cmd.ExtraFiles = files
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := spawning().start(cmd); err != nil {
		t.Fatal(err)
	}
	lifeline.Close()
	write.Close()
	t.Cleanup(func() { cmd.Process.Kill(); hold.Close(); report.Close() })
	return Alone{cmd, hold, report}
}

// Started waits for the mark.
func (a Alone) Started(t testing.TB) {
	t.Helper()
	mark := make([]byte, len(startedMark))
	if _, err := io.ReadFull(a.report, mark); err != nil || string(mark) != startedMark {
		t.Fatalf("%q, %v", mark, err)
	}
}

// CutLifeline does what the daemon's death does.
func (a Alone) CutLifeline(t testing.TB) {
	t.Helper()
	if err := a.lifeline.Close(); err != nil {
		t.Fatal(err)
	}
}

// Wait waits for the first stage's end and returns its report.
func (a Alone) Wait(t testing.TB) string {
	t.Helper()
	said, err := io.ReadAll(a.report)
	if err != nil {
		t.Fatal(err)
	}
	a.cmd.Wait() // it ends by a signal or a code of its own; what it said counts
	return strings.TrimPrefix(string(said), startedMark)
}
