package rig

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Daemon is one running "serve".
type Daemon struct {
	Address string // http://127.0.0.1:PORT
	cmd     *exec.Cmd
	gone    chan struct{} // closed when the process has ended
	mu      sync.Mutex
	said    strings.Builder
}

// Serve starts the daemon on a free port and returns once it listens.
func (w *World) Serve(ctx context.Context, args ...string) (*Daemon, error) {
	all := []string{"serve", "--db", w.DB(), "--bind", "127.0.0.1:0", "--workspace-root", w.Workspaces(), "--state-dir", w.State()}
	if w.Tool != "" {
		all = append(all, "--tool-ailang-bin", w.Tool)
	}
	d := &Daemon{cmd: exec.Command(filepath.Join(w.Bin, "ailang-worldd"), append(all, args...)...), gone: make(chan struct{})}
	stdout, err := d.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	d.cmd.Env = append(os.Environ(), w.Env...)
	d.cmd.Stderr = d
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	listening := make(chan string, 1)
	go d.watch(stdout, listening)
	select {
	case d.Address = <-listening:
		w.Daemon = d
		return d, nil
	case <-d.gone:
		return nil, fmt.Errorf("serve ended: %s", oneLine(d.Said()))
	case <-time.After(patience):
		d.Kill()
		return nil, fmt.Errorf("serve does not listen: %s", oneLine(d.Said()))
	case <-ctx.Done():
		d.Kill()
		return nil, ctx.Err()
	}
}

// watch keeps what the daemon says and finds the address in it.
func (d *Daemon) watch(stdout io.Reader, listening chan<- string) {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		fmt.Fprintln(d, lines.Text())
		if _, address, ok := strings.Cut(lines.Text(), "listening on "); ok {
			listening <- strings.TrimSpace(address)
		}
	}
	_ = d.cmd.Wait() // the exit code is read from the process state
	close(d.gone)
}

// Write takes the daemon's standard error.
func (d *Daemon) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.said.Write(b)
}

// Said is everything the daemon has printed so far.
func (d *Daemon) Said() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.said.String()
}

// Kill ends the daemon with SIGKILL and waits until it is gone.
func (d *Daemon) Kill() {
	_ = d.cmd.Process.Signal(syscall.SIGKILL) // an error means that it has ended already
	<-d.gone
}

// Stop asks the daemon to end and returns its exit code.
func (d *Daemon) Stop() (int, error) {
	if err := d.cmd.Process.Signal(os.Interrupt); err != nil {
		return 0, err
	}
	select {
	case <-d.gone:
		return d.cmd.ProcessState.ExitCode(), nil
	case <-time.After(patience):
		d.Kill()
		return 0, fmt.Errorf("serve did not end on an interrupt: %s", oneLine(d.Said()))
	}
}

// Pid is the daemon's process id.
func (d *Daemon) Pid() int { return d.cmd.Process.Pid }
