package runner

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"world/confine"
	"world/tools/lang"
	"world/tools/policy"
)

// patience is how long what the program has started may still hold its pipes open
// when it has ended itself.
const patience = 50 * time.Millisecond

// command is the process that runs an admitted program.
func (o order) command(d decision) *exec.Cmd {
	if d.language == string(lang.Python) {
		// No option can be meant: the file's name does not begin with "-".
		cmd := exec.Command(lang.PythonPath, append([]string{o.file}, o.args...)...)
		cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONUTF8=1")
		return cmd
	}
	args := []string{WorkerVerb, "--policy", o.policyFile}
	if o.withArgs {
		args = append(args, "--args-json", o.argsJSON)
	}
	cmd := exec.Command("/proc/self/exe", append(append(args, "--", o.file), o.args...)...)
	cmd.Env = append(os.Environ(), "GOTRACEBACK=none")
	return cmd
}

// ending is how a program ended.
type ending struct {
	code      int
	reason    string // of the contract's limits, "" for none
	gaveUp    string // why the interpreter did, "" when it did not
	unstarted error
}

func (e ending) message(p policy.Policy) string {
	if e.reason == reasonOutput {
		return fmt.Sprintf("combined stdout+stderr exceeded max_output_bytes (%d); worker killed", p.MaxOutput)
	}
	return fmt.Sprintf("exceeded timeout_ms (%s); worker process group killed", time.Duration(p.TimeoutMillis)*time.Millisecond)
}

// Reasons of a limit.
const (
	reasonTime   = "timeout"
	reasonOutput = "output_limit"
)

// watch runs a command to its end, or to the end of its time or of its output. A zero
// time is none.
func watch(cmd *exec.Cmd, stdin io.Reader, relay *relay, until time.Time) ending {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, relay.stdout(), relay.stderr()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = patience
	// The program runs as this process's user, who may write the memory of what is
	// dumpable, and so into what this process says of it.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return ending{unstarted: err}
	}
	// Or send it a signal, at which it would break off without a word. What is caught,
	// unlike what is ignored, the program does not inherit.
	signal.Notify(make(chan os.Signal, 1))
	confine.KeepThreads()
	started, ended := make(chan error, 1), make(chan error, 1)
	go func() {
		runtime.LockOSThread() // the program dies with the thread that started it, which waits for it
		err := cmd.Start()
		if started <- err; err == nil {
			ended <- cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return ending{unstarted: err}
	}
	var clock <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		clock = timer.C
	}
	reason := ""
	select {
	case err := <-ended:
		return ofProcess(cmd, err, relay)
	case <-clock:
		reason = reasonTime
	case <-relay.over:
		reason = reasonOutput
	}
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	<-ended
	return ending{reason: reason}
}

// ofProcess reads how a process ended by itself; one that a signal ended has a shell's
// code for it.
func ofProcess(cmd *exec.Cmd, err error, relay *relay) ending {
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left behind
	if relay.full() {
		return ending{reason: reasonOutput}
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return ending{code: 1}
	}
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return ending{code: 128 + int(status.Signal())}
	}
	return ending{code: status.ExitStatus()}
}
