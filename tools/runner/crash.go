package runner

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"go.starlark.net/starlark"
	"golang.org/x/sys/unix"
)

const (
	maxDepth   = 10_000 // calls of a Starlark program within each other
	depthEvery = 1000   // steps from one look at the depth to the next
	shownCalls = 10     // of a backtrace, at its beginning and at its end
	maxWords   = 64 << 10
)

// wordsFD is where the worker's own Go runtime writes when it gives up: a pipe of its
// own, which no program can write to, so that nothing a program prints is taken for it.
const wordsFD = 3

// partWords gives the Go runtime's words the descriptor wordsFD and returns the file
// that is standard error to the program alone.
func partWords() (*os.File, error) {
	own, err := unix.FcntlInt(2, unix.F_DUPFD_CLOEXEC, wordsFD+1)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(own), "stderr"), unix.Dup3(wordsFD, 2, 0)
}

// watchWorker is watch for a worker. One that gave up ends with code 1 and says why in
// a line; what the Go runtime wrote is not shown.
func watchWorker(cmd *exec.Cmd, stdin io.Reader, relay *relay, until time.Time) ending {
	r, w, err := os.Pipe()
	if err != nil {
		return ending{unstarted: err}
	}
	cmd.ExtraFiles = []*os.File{w}
	said := make(chan []byte, 1)
	go func() {
		defer r.Close()
		words, _ := io.ReadAll(io.LimitReader(r, maxWords))
		io.Copy(io.Discard, r)
		said <- words
	}()
	end := watch(cmd, stdin, relay, until)
	w.Close()
	if words := <-said; len(words) > 0 && end.reason == "" {
		end.code, end.gaveUp = 1, whyGivenUp(words)
	}
	return end
}

// whyGivenUp makes one line of the words of a Go runtime. Its collector does not look
// whether it was given the memory that it asks for, and faults on the runtime's own stack.
func whyGivenUp(words []byte) string {
	refused := strings.HasPrefix(string(words), "SIGSEGV: ") && strings.Contains(string(words), "\ngoroutine 0 ")
	for line := range strings.Lines(string(words)) {
		text, fatal := strings.CutPrefix(strings.TrimSpace(line), "fatal error: ")
		switch {
		case refused, fatal && strings.Contains(text, "memory"):
			return "out of memory: its values need more than one process may have"
		case fatal && text == "stack overflow":
			return fmt.Sprintf("values nested too deep: working on one needs more than %d bytes of stack", maxStack)
		}
	}
	return "the interpreter gave up"
}

// boundDepth ends a program that calls itself without end, with its own backtrace.
func boundDepth(thread *starlark.Thread) {
	thread.SetMaxExecutionSteps(depthEvery)
	thread.OnMaxSteps = func(thread *starlark.Thread) {
		if thread.CallStackDepth() > maxDepth {
			thread.Cancel(fmt.Sprintf("recursion too deep: more than %d calls within each other", maxDepth))
		}
		thread.SetMaxExecutionSteps(thread.ExecutionSteps() + depthEvery)
	}
}

// backtrace is where a program failed: of a deep one, its two ends.
func backtrace(failed *starlark.EvalError) string {
	failed.Msg = strings.TrimPrefix(failed.Msg, "Starlark computation cancelled: ")
	calls := failed.CallStack
	left := len(calls) - 2*shownCalls
	if left <= 0 {
		return failed.Backtrace()
	}
	inner := (&starlark.EvalError{Msg: failed.Msg, CallStack: calls[len(calls)-shownCalls:]}).Backtrace()
	_, inner, _ = strings.Cut(inner, "\n")
	return fmt.Sprintf("%s  … %d calls left out …\n%s", calls[:shownCalls], left, inner)
}
