package attended_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"world/fault"
	"world/fault/await"
	"world/session/attended"
)

// human sits at the other end of a terminal.
type human struct {
	keyboard *os.File
	mu       sync.Mutex
	screen   bytes.Buffer
}

// sit opens a terminal and a human who types each line of answers when the
// screen shows a prompt that ends in "] " or ": ".
func sit(t *testing.T, still func() error, answer string) (*attended.Terminal, *human) {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	h := &human{keyboard: pollable(t, master)}
	var watching sync.WaitGroup
	watching.Go(func() { h.watch(answer) })
	terminal := attended.Adopt(pollable(t, tty), still)
	t.Cleanup(func() {
		terminal.Close()
		h.keyboard.Close()
		watching.Wait()
	})
	return terminal, h
}

// pollable replaces a file of a terminal by one on which deadlines and Close
// reach a blocked Read.
func pollable(t *testing.T, f *os.File) *os.File {
	t.Helper()
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), f.Name())
}

func (h *human) watch(answer string) {
	chunk := make([]byte, 512)
	for answered := false; ; {
		n, err := h.keyboard.Read(chunk)
		h.mu.Lock()
		h.screen.Write(chunk[:n])
		shown := h.screen.String()
		h.mu.Unlock()
		if !answered && answer != "" && (strings.HasSuffix(shown, "] ") || strings.HasSuffix(shown, ": ")) {
			answered = true
			h.keyboard.WriteString(answer)
		}
		if err != nil {
			return
		}
	}
}

func (h *human) saw() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.screen.String()
}

func TestOnlyATypedYesConfirms(t *testing.T) {
	for answer, want := range map[string]bool{
		"y\n": true, "yes\n": true, " yes \n": true,
		"n\n": false, "\n": false, "Y\n": false, "yess\n": false, "y y\n": false, "no\n": false, "\x04": false,
	} {
		terminal, h := sit(t, nil, answer)
		err := terminal.Confirm(t.Context(), []string{"first line", "second line"}, "Go on? [y/N] ")
		if (err == nil) != want || (err != nil && !fault.Is(err, fault.Denied)) {
			t.Errorf("%q: got %v", answer, err)
		}
		if saw := h.saw(); !strings.Contains(saw, "first line") || !strings.Contains(saw, "second line") {
			t.Errorf("%q: the screen shows %q", answer, saw)
		}
	}
}

func TestAPhraseIsTypedWhole(t *testing.T) {
	for answer, want := range map[string]bool{"publish it\n": true, "publish\n": false, "y\n": false} {
		terminal, _ := sit(t, nil, answer)
		if err := terminal.Phrase(t.Context(), nil, "publish it"); (err == nil) != want {
			t.Errorf("%q: got %v", answer, err)
		}
	}
}

func TestWhatWasTypedBeforeTheQuestionDoesNotCount(t *testing.T) {
	terminal, h := sit(t, nil, "n\n")
	h.keyboard.WriteString("y\n")
	for deadline := time.Now().Add(5 * time.Second); !strings.Contains(h.saw(), "y"); { // its echo
		if time.Now().After(deadline) {
			t.Fatal("the early answer never reached the terminal")
		}
	}
	if err := terminal.Confirm(t.Context(), nil, "Go on? [y/N] "); !fault.Is(err, fault.Denied) {
		t.Errorf("got %v", err)
	}
}

func TestAnAnswerThatDoesNotComeIsNone(t *testing.T) {
	terminal, h := sit(t, nil, "")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if err := terminal.Confirm(ctx, nil, "Go on? [y/N] "); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "in time") {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(h.saw(), "Go on?") {
		t.Error("the question was not shown")
	}
}

func TestATerminalThatGoesAwayConfirmsNothing(t *testing.T) {
	terminal, h := sit(t, nil, "")
	confirmed := make(chan error, 1)
	go func() { confirmed <- terminal.Confirm(t.Context(), nil, "Go on? [y/N] ") }()
	await.That(t, "the question is shown", func() bool { return strings.Contains(h.saw(), "Go on?") })
	h.keyboard.Close()
	if err := <-confirmed; !fault.Is(err, fault.Denied) {
		t.Errorf("got %v", err)
	}
}

func TestAYesCountsOnlyWhileTheTerminalIsStillTheAskers(t *testing.T) {
	gone := errors.New("gone")
	asked := 0
	terminal, _ := sit(t, func() error { asked++; return gone }, "y\n")
	if err := terminal.Confirm(t.Context(), nil, "Go on? [y/N] "); !errors.Is(err, gone) || asked != 1 {
		t.Errorf("got %v after %d checks", err, asked)
	}
}
