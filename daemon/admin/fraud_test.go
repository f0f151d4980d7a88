package admin

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Each fraud hands over something that is not the client's controlling terminal,
// held as a human holds it. None is even asked. The honest client of
// TestMintAtTheClientsTerminal is their control.
func TestFraudsAreNotAsked(t *testing.T) {
	for how, want := range map[string]string{
		"no file":              "needs the controlling terminal",
		"null":                 "not a controlling terminal",
		"regular file":         "not a controlling terminal",
		"the other end":        "not a controlling terminal",
		"the terminal by name": "not a controlling terminal",
		"read only":            "not a controlling terminal",
		"background":           "not in the foreground",
		"two files":            "did not arrive whole",
	} {
		t.Run(how, func(t *testing.T) {
			d := startDaemon(t)
			c := d.startClient(t, how)
			if code, out := c.answer(t); code != 1 || !strings.Contains(out, want) {
				t.Errorf("exit %d: %s", code, out)
			}
			if strings.Contains(c.saw(), "Confirm") || d.head(t) != 0 {
				t.Errorf("it was asked %q, the log is at %d", c.saw(), d.head(t))
			}
		})
	}
}

// A client at one terminal hands over /dev/tty of another session.
func TestAnothersTerminalIsNotAsked(t *testing.T) {
	d := startDaemon(t)
	victim := d.startClient(t, "mint")
	victim.asked(t)
	// What the victim's /dev/tty is, only a process of its session can open: take it from there.
	stolen := stealTerminal(t, victim)
	thief := d.startClientWith(t, "another's terminal", stolen)
	if code, out := thief.answer(t); code != 1 || !strings.Contains(out, "not the peer's controlling terminal") {
		t.Errorf("exit %d: %s", code, out)
	}
	victim.types(t, "n\n")
	victim.answer(t)
	if n := strings.Count(victim.saw(), "Confirm mint"); n != 1 || d.head(t) != 0 {
		t.Errorf("the victim was asked %d times, the log is at %d", n, d.head(t))
	}
}

func TestAYesAfterLettingGoDoesNotCount(t *testing.T) {
	d := startDaemon(t)
	tell, told, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	done, doing, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer done.Close()
	c := d.startClientWith(t, "let go", tell, doing)
	c.asked(t)
	told.Close()
	done.Read(make([]byte, 1)) // until the client has let go
	c.types(t, "y\n")
	if code, out := c.answer(t); code != 1 || !strings.Contains(out, "not the peer's controlling terminal") {
		t.Errorf("exit %d: %s", code, out)
	}
	if d.head(t) != 0 {
		t.Error("something was minted")
	}
}

// stealTerminal takes a descriptor of a client's /dev/tty, as a process of the
// same user can. It still names the client's terminal.
func stealTerminal(t *testing.T, c *client) *os.File {
	t.Helper()
	pid := c.cmd.Process.Pid
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pidfd)
	for n := range 64 {
		if name, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, n)); err == nil && name == "/dev/tty" {
			fd, err := unix.PidfdGetfd(pidfd, n, 0)
			if err != nil {
				t.Fatal(err)
			}
			return os.NewFile(uintptr(fd), "stolen")
		}
	}
	t.Fatal("the client has no /dev/tty open")
	return nil
}
