package attended

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"world/fault"
)

// maxAnswer bounds the line typed as an answer, in bytes.
const maxAnswer = 4096

// Terminal is a controlling terminal to ask at.
type Terminal struct {
	file *os.File
	// still refuses when the terminal is no longer what it was; nil for our own.
	still func() error
}

// Open opens this process's controlling terminal to ask about a mint.
func Open() (*Terminal, error) { return OpenFor("minting a session credential") }

// OpenFor opens this process's controlling terminal to ask about an act. Denied
// when there is none, or when this process runs in its background: what is typed
// there is meant for another.
func OpenFor(act string) (*Terminal, error) {
	file, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		var cause error = err
		if path := (*os.PathError)(nil); errors.As(err, &path) {
			cause = path.Err
		}
		return nil, fault.New("attended: open terminal", fault.Denied,
			"refusing: no controlling terminal (%v); %s requires one human act at a terminal", cause, act)
	}
	err = control(file, func(fd int) error {
		group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		if err == nil && group != unix.Getpgrp() {
			err = fault.New("attended: open terminal", fault.Denied, "refusing: not in the foreground of the terminal")
		}
		return err
	})
	if err != nil {
		file.Close()
		return nil, err
	}
	return &Terminal{file: file}, nil
}

// Adopt takes a terminal that another process handed over. The caller has
// checked that it is that process's controlling terminal; still checks it again
// once an answer was read, for the process may have let go of it meanwhile.
func Adopt(file *os.File, still func() error) *Terminal { return &Terminal{file, still} }

// File returns the descriptor, to hand it over.
func (t *Terminal) File() *os.File { return t.file }

// Close lets the terminal go.
func (t *Terminal) Close() error { return t.file.Close() }

// Confirm shows the notice lines and the question and waits for a line. nil
// means that "y" or "yes" was typed; Denied any other answer, and none before ctx ended.
func (t *Terminal) Confirm(ctx context.Context, notice []string, question string) error {
	return t.want(ctx, notice, question, "y", "yes")
}

// Phrase is Confirm for acts that cannot be taken back: the phrase itself must be typed.
func (t *Terminal) Phrase(ctx context.Context, notice []string, phrase string) error {
	return t.want(ctx, notice, fmt.Sprintf("Type %q to go on: ", phrase), phrase)
}

// want asks and accepts one of the answers.
func (t *Terminal) want(ctx context.Context, notice []string, question string, answers ...string) error {
	stop := context.AfterFunc(ctx, func() { t.file.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := t.flush(); err != nil {
		return fault.Wrap("attended: confirm", fault.Denied, err, "the terminal does not answer")
	}
	shown := strings.Join(append(notice, question), "\n")
	if _, err := io.WriteString(t.file, shown); err != nil {
		return t.failed(ctx, err)
	}
	answer, err := t.line()
	if err != nil {
		return t.failed(ctx, err)
	}
	if !slices.Contains(answers, strings.TrimSpace(answer)) {
		return fault.New("attended: confirm", fault.Denied, "aborted: not confirmed at the terminal")
	}
	if t.still != nil {
		return t.still()
	}
	return nil
}

// flush throws away what was typed before the question.
func (t *Terminal) flush() error {
	return control(t.file, func(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) })
}

// control runs f on a file's descriptor and leaves its blocking mode alone,
// which deadlines depend on.
func control(file *os.File, f func(fd int) error) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	err = raw.Control(func(fd uintptr) { inner = f(int(fd)) })
	return errors.Join(err, inner)
}

// line reads up to a line's end, also from a terminal in raw mode.
func (t *Terminal) line() (string, error) {
	var line []byte
	buffer := make([]byte, maxAnswer)
	for len(line) < maxAnswer {
		n, err := t.file.Read(buffer[:maxAnswer-len(line)])
		line = append(line, buffer[:n]...)
		if end := bytes.IndexAny(line, "\r\n"); end >= 0 {
			return string(line[:end]), nil
		}
		if err != nil {
			return "", err
		}
	}
	return "", errors.New("the line is too long")
}

func (t *Terminal) failed(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return fault.Wrap("attended: confirm", fault.Denied, err, "aborted: the terminal could not be read")
	}
	// As a courtesy the shell's prompt gets a line of its own.
	t.file.SetWriteDeadline(time.Now().Add(time.Second))
	io.WriteString(t.file, "\n")
	why := "broken off"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		why = "no answer at the terminal in time"
	}
	return fault.Wrap("attended: confirm", fault.Denied, ctx.Err(), "aborted: %s", why)
}
