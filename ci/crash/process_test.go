package crash

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"world/ci/crash/scene"
)

// process is one process that plays a script.
type process struct {
	t      testing.TB
	cmd    *exec.Cmd
	stderr bytes.Buffer
	ready  chan struct{} // closed when it says so, or has ended
	ended  chan struct{}
	mu     sync.Mutex
	lines  []scene.Line
}

// start starts a victim with a stop, "" for none.
func start(t testing.TB, script scene.Script, stop string) *process {
	t.Helper()
	return startProgram(t, filepath.Join(bin, "victim"), script, stop)
}

func startProgram(t testing.TB, program string, script scene.Script, stop string) *process {
	t.Helper()
	input, err := json.Marshal(script)
	ok(t, err)
	p := &process{t: t, cmd: exec.Command(program), ready: make(chan struct{}), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), "GOMAXPROCS=2")
	if stop != "" {
		p.cmd.Env = append(p.cmd.Env, "WORLD_STOP="+stop)
	}
	p.cmd.Stdin, p.cmd.Stderr = bytes.NewReader(input), &p.stderr
	out, err := p.cmd.StdoutPipe()
	ok(t, err)
	ok(t, p.cmd.Start())
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); <-p.ended })
	go func() {
		defer close(p.ended)
		isReady := false
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			var l scene.Line
			if json.Unmarshal(lines.Bytes(), &l) != nil {
				break // cut by the kill
			}
			p.mu.Lock()
			p.lines = append(p.lines, l)
			p.mu.Unlock()
			if l.Say == "ready" && !isReady {
				isReady = true
				close(p.ready)
			}
		}
		_ = p.cmd.Wait() // how it ended is read from the process state
		if !isReady {
			close(p.ready)
		}
	}()
	return p
}

// said returns what it has said so far.
func (p *process) said() []scene.Line {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]scene.Line(nil), p.lines...)
}

// told returns what it has said so far of one kind.
func (p *process) told(say string) (lines []scene.Line) {
	for _, l := range p.said() {
		if l.Say == say {
			lines = append(lines, l)
		}
	}
	return lines
}

// killed waits for the end and reports whether SIGKILL brought it.
func (p *process) killed() bool {
	p.t.Helper()
	<-p.ended
	status, _ := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() && status.Signal() == syscall.SIGKILL {
		return true
	}
	if p.stderr.Len() > 0 || !p.cmd.ProcessState.Success() {
		p.t.Fatalf("the victim failed by itself: %s: %s", p.cmd.ProcessState, p.stderr.String())
	}
	return false
}
