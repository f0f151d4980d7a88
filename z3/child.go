package z3

import (
	"io"
	"os/exec"
	"sync"
	"syscall"
)

// child is a started program that leads a process group of its own, and our ends
// of its standard streams. A program may be a script that starts the solver, so
// it is the group that is ended.
type child struct {
	in  io.WriteCloser
	out io.ReadCloser

	cmd *exec.Cmd

	mu    sync.Mutex
	ended bool // waited for: its number may be another process's by now
}

// spawn starts the program. Its own group keeps a terminal's interrupt ours to
// pass on; and the kernel ends it with us, even when we are killed in the middle
// of a proof.
func (p Program) spawn(args ...string) (*child, error) {
	cmd := exec.Command(p.Path, args...)
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
	return &child{in: in, out: out, cmd: cmd}, nil
}

// kill ends the group and our talk with it: a process that left the group may
// still hold the other ends of the pipes.
func (c *child) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.killLocked()
}

func (c *child) killLocked() {
	if c.ended {
		return
	}
	syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
	c.in.Close()
	c.out.Close()
}

// end kills the group and takes its leader from the table of processes.
func (c *child) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.killLocked()
	c.cmd.Wait()
	c.ended = true
}
