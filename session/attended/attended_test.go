package attended_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"world/coordinator/registry"
	"world/fault"
	"world/session"
	"world/session/attended"
	"world/session/worktree"
	"world/store"
	"world/store/sqlite"
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
	go func() {
		for !strings.Contains(h.saw(), "Go on?") {
			time.Sleep(time.Millisecond)
		}
		h.keyboard.Close()
	}()
	if err := terminal.Confirm(t.Context(), nil, "Go on? [y/N] "); !fault.Is(err, fault.Denied) {
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

const born = 1_000_000

// desk opens a desk on a real store whose clock stands at born.
func desk(t *testing.T) attended.Desk {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "world.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := registry.Bootstrap(t.Context(), s, nil, []byte("interpreter"), born); err != nil {
		t.Fatal(err)
	}
	return attended.Desk{
		Office: session.Office{Store: s, Draft: func(ctx context.Context, verb string, about store.Ref) (store.Draft, error) {
			return registry.HostDraft(ctx, s, verb, about)
		}},
		Wall: func() time.Time { return time.Unix(born+5, 0) },
	}
}

func terms(t *testing.T) session.Terms {
	t.Helper()
	grants, err := session.ParseGrants([]string{"Workspace.Read=worktree:2", "Net.Get=example:443:1"})
	if err != nil {
		t.Fatal(err)
	}
	return session.Terms{Episode: "ep", Grants: grants, TTL: 60}
}

func TestMintAsksWithTheGrantsInSight(t *testing.T) {
	d := desk(t)
	terminal, h := sit(t, nil, "y\n")
	minted, err := d.Mint(t.Context(), terminal, terms(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Grants of episode ep:", "  Workspace.Read=worktree:2", "  Net.Get=example:443:1",
		"Confirm mint for episode ep (2 grant(s), expiry +60s) with a session credential? [y/N] ",
	} {
		if !strings.Contains(h.saw(), want) {
			t.Errorf("the screen does not show %q: %q", want, h.saw())
		}
	}
	live, err := session.Resolve(t.Context(), d.Office.Store, minted.Token, born+5)
	if err != nil || live.Record.ExpiresAt != born+65 {
		t.Errorf("got %+v, %v", live, err)
	}
	if strings.Contains(h.saw(), minted.Token.Reveal()) {
		t.Error("the credential is on the terminal")
	}
}

func TestANoMintsNothing(t *testing.T) {
	d := desk(t)
	terminal, _ := sit(t, nil, "n\n")
	if _, err := d.Mint(t.Context(), terminal, terms(t)); !fault.Is(err, fault.Denied) {
		t.Errorf("got %v", err)
	}
	untouched(t, d)
}

func TestTheQuestionEndsInTime(t *testing.T) {
	d := desk(t)
	d.Wait = 20 * time.Millisecond
	terminal, _ := sit(t, nil, "")
	if _, err := d.Mint(t.Context(), terminal, terms(t)); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), "in time") {
		t.Errorf("got %v", err)
	}
	untouched(t, d)
}

func TestBadTermsAreRefusedUnasked(t *testing.T) {
	d := desk(t)
	terminal, h := sit(t, nil, "y\n")
	bad := terms(t)
	bad.Episode = "No"
	if _, err := d.Mint(t.Context(), terminal, bad); !fault.Is(err, fault.Invalid) {
		t.Errorf("got %v", err)
	}
	if saw := h.saw(); saw != "" {
		t.Errorf("a refused mint asked %q", saw)
	}
	untouched(t, d)
}

func TestNewGivesAWorktreeAndTakesItBackWhenTheMintFails(t *testing.T) {
	d := desk(t)
	d.Root = worktree.Root(t.TempDir())
	repository := t.TempDir()
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "one"}} {
		git := exec.Command("git", append([]string{"-C", repository}, args...)...)
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	q := worktree.Request{Repository: repository, Episode: "ep"}
	honest := d.Office.Draft
	d.Office.Draft = func(ctx context.Context, verb string, about store.Ref) (store.Draft, error) {
		if _, err := os.Stat(d.Root.Path("ep")); err != nil {
			t.Errorf("the mint comes before the worktree: %v", err)
		}
		return store.Draft{}, fault.New("test: draft", fault.Unavailable, "no draft")
	}
	terminal, _ := sit(t, nil, "y\n")
	if _, _, err := d.New(t.Context(), terminal, terms(t), q); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(d.Root.Path("ep")); !os.IsNotExist(err) {
		t.Errorf("the worktree of a failed mint stays: %v", err)
	}
	untouched(t, d)

	d.Office.Draft = honest
	terminal, _ = sit(t, nil, "y\n")
	minted, tree, err := d.New(t.Context(), terminal, terms(t), q)
	if err != nil || minted.Record.Episode != "ep" || tree.Path != d.Root.Path("ep") {
		t.Fatalf("got %+v, %+v, %v", minted.Record, tree, err)
	}
	terminal, h := sit(t, nil, "y\n")
	if _, _, err := d.New(t.Context(), terminal, terms(t), q); !fault.Is(err, fault.Conflict) || h.saw() != "" {
		t.Errorf("a second worktree: got %v, the screen shows %q", err, h.saw())
	}
}

func TestRevokeTakesTheLogicalTime(t *testing.T) {
	d := desk(t)
	terminal, _ := sit(t, nil, "y\n")
	minted, err := d.Mint(t.Context(), terminal, terms(t))
	if err != nil {
		t.Fatal(err)
	}
	d.Wall = func() time.Time { return time.Unix(1, 0) } // set back
	ids, err := d.Revoke(t.Context(), minted.Record.Credential, "")
	if err != nil || len(ids) != 1 || ids[0] != minted.Record.Credential {
		t.Fatalf("got %v, %v", ids, err)
	}
	if _, err := d.Revoke(t.Context(), "", "ep"); !fault.Is(err, fault.NotFound) {
		t.Errorf("an episode without live sessions: got %v", err)
	}
	if last, err := d.Office.Store.LastTime(t.Context()); err != nil || last != born+5 {
		t.Errorf("time went to %d, %v", last, err)
	}
}

// untouched holds that the log still ends at genesis.
func untouched(t *testing.T, d attended.Desk) {
	t.Helper()
	if head, err := d.Office.Store.Head(t.Context()); err != nil || head.Index != 0 {
		t.Errorf("the log ends at %d, %v", head.Index, err)
	}
}
