package confine

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// WithoutOuter makes the jail behave as where only bubblewrap may make namespaces.
func (j *Jail) WithoutOuter() *Jail {
	without := *j
	without.outer = false
	return &without
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
	if err := start(cmd); err != nil {
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
