package admin

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"world/fault"
	"world/session"
	"world/store/sqlite"
)

func TestMintAtTheClientsTerminal(t *testing.T) {
	d := startDaemon(t)
	c := d.startClient(t, "mint")
	c.asked(t)
	if saw := c.saw(); !strings.Contains(saw, "  Workspace.Read=worktree:2") ||
		!strings.Contains(saw, "Confirm mint for episode ep (1 grant(s), expiry +60s)") {
		t.Errorf("the terminal shows %q", saw)
	}
	c.types(t, "y\n")
	code, out := c.answer(t)
	token, err := session.ParseToken(strings.TrimSpace(out))
	if code != 0 || err != nil {
		t.Fatalf("exit %d: %s", code, out)
	}
	live, err := session.Resolve(t.Context(), d.desk.Office.Store, token, born+5)
	if err != nil || live.Record.Episode != "ep" || live.Record.ExpiresAt != born+65 {
		t.Errorf("got %+v, %v", live, err)
	}
	if strings.Contains(c.saw(), token.Reveal()) {
		t.Error("the daemon wrote the credential to the terminal")
	}
}

func TestANoIsANo(t *testing.T) {
	d := startDaemon(t)
	c := d.startClient(t, "mint")
	c.asked(t)
	c.types(t, "n\n")
	if code, out := c.answer(t); code != 1 || !strings.Contains(out, "denied: aborted") {
		t.Errorf("exit %d: %s", code, out)
	}
	if d.head(t) != 0 {
		t.Error("something was minted")
	}
}

func TestAnInterruptBreaksTheQuestionOffForCertain(t *testing.T) {
	d := startDaemon(t)
	c := d.startClient(t, "mint")
	c.asked(t)
	c.types(t, "\x03")
	if code, out := c.answer(t); code != 1 || !strings.Contains(out, "denied: aborted: broken off") {
		t.Errorf("exit %d: %s", code, out)
	}
	if d.head(t) != 0 {
		t.Error("something was minted")
	}
}

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

func TestAClientThatDiesBreaksTheQuestionOff(t *testing.T) {
	d := startDaemon(t)
	c := d.startClient(t, "mint")
	c.asked(t)
	if err := c.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c.answer(t)
	c.keyboard.WriteString("y\n") // fails when the terminal is hung up already
	d.stop()                      // returns when every conversation is over
	s, err := sqlite.Open(t.Context(), filepath.Join(d.dir, "world.db"), sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if head, err := s.Head(t.Context()); err != nil || head.Index != 0 {
		t.Errorf("the log is at %d, %v", head.Index, err)
	}
}

func TestStoppingTheDaemonBreaksTheQuestionOff(t *testing.T) {
	d := startDaemon(t)
	c := d.startClient(t, "mint")
	c.asked(t)
	d.stop()
	if code, out := c.answer(t); code != 1 || !strings.Contains(out, "denied: aborted: broken off") {
		t.Errorf("exit %d: %s", code, out)
	}
	if _, err := os.Stat(filepath.Join(d.dir, "admin", "admin.sock")); !os.IsNotExist(err) {
		t.Errorf("the socket stays: %v", err)
	}
}

func TestAnotherStoreIsNotMeant(t *testing.T) {
	d := startDaemon(t)
	c := d.startClient(t, "mint", "WORLD=sha256:"+strings.Repeat("0", 64))
	if code, out := c.answer(t); code != 1 || !strings.Contains(out, "serves another store") {
		t.Errorf("exit %d: %s", code, out)
	}
}

func TestRevokeNeedsNoTerminal(t *testing.T) {
	d := startDaemon(t)
	minted, err := d.desk.Office.Mint(t.Context(), terms(), born)
	if err != nil {
		t.Fatal(err)
	}
	id := string(minted.Record.Credential)
	if code, out := d.startClient(t, "revoke", "ID="+id).answer(t); code != 0 || out != "["+id+"]" {
		t.Errorf("exit %d: %s", code, out)
	}
	if code, out := d.startClient(t, "revoke", "ID="+id).answer(t); code != 1 || !strings.Contains(out, "revoked already") {
		t.Errorf("again: exit %d: %s", code, out)
	}
	if code, out := d.startClient(t, "revoke", "EPISODE=ep").answer(t); code != 1 || !strings.Contains(out, "no unrevoked session") {
		t.Errorf("by episode: exit %d: %s", code, out)
	}
}

func TestListenRefusesAFolderThatIsNotItsOwn(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"open": func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o755); err != nil {
				t.Fatal(err)
			}
		},
		"a link": func(t *testing.T, path string) {
			target := filepath.Join(t.TempDir(), "private")
			if err := os.Mkdir(target, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(target, path); err != nil {
				t.Fatal(err)
			}
		},
		"a file": func(t *testing.T, path string) {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		dir := t.TempDir()
		spoil(t, filepath.Join(dir, "admin"))
		if l, err := Listen(dir); err == nil {
			l.Close()
			t.Errorf("%s: it listens", name)
		}
	}
}

func TestListenReplacesADeadSocketAndLeavesALiveOne(t *testing.T) {
	// A path longer than the kernel takes for a socket.
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 100))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	first, err := Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := Listen(dir); err == nil {
		second.Close()
		t.Fatal("a second daemon took the socket")
	}
	first.SetUnlinkOnClose(false)
	first.Close() // as a killed daemon leaves it
	third, err := Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer third.Close()
	if info, err := os.Stat(filepath.Join(dir, "admin")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v", info.Mode(), err)
	}
}

func TestDialFindsNoDaemon(t *testing.T) {
	dir := t.TempDir()
	if _, err := Dial(dir, ""); err == nil {
		t.Error("no folder: it dials")
	}
	l, err := Listen(dir)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := Dial(dir, ""); err == nil {
		t.Error("no socket: it dials")
	}
}

func TestAnotherUserIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	d := startDaemon(t)
	// Open every folder on the way, so that only the check of the peer is left.
	for dir := filepath.Join(d.dir, "admin"); dir != filepath.Clean(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(d.dir, "admin", "admin.sock"), 0o777); err != nil {
		t.Fatal(err)
	}
	ask := func(conn *net.UnixConn) error {
		c := &Client{conn, d.world}
		defer c.Close()
		_, err := c.Revoke(t.Context(), session.NewToken().ID(), "")
		return err
	}
	path := filepath.Join(d.dir, "admin", "admin.sock")
	if err := ask(dialAs(t, 65534, path)); !fault.Is(err, fault.Denied) {
		t.Errorf("another user: got %v", err)
	}
	if err := ask(dialAs(t, 0, path)); !fault.Is(err, fault.NotFound) {
		t.Errorf("this user: got %v, want to get as far as the store", err)
	}
}

// dialAs connects as another user: the kernel notes who connected.
func dialAs(t *testing.T, uid int, path string) *net.UnixConn {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	become := func(uid int) {
		// Of this thread alone, unlike unix.Setresuid.
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), uintptr(uid), ^uintptr(0)); errno != 0 {
			t.Fatal(errno)
		}
	}
	become(uid)
	err = unix.Connect(fd, &unix.SockaddrUnix{Name: path})
	become(0)
	if err != nil {
		t.Fatalf("user %d cannot connect, so the test shows nothing: %v", uid, err)
	}
	file := os.NewFile(uintptr(fd), "conn")
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		t.Fatal(err)
	}
	return conn.(*net.UnixConn)
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
