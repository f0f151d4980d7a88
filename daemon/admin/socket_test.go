package admin

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"world/fault"
	"world/session"
)

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
	if os.Geteuid() == 0 { // who alone can be another user
		if err := ask(dialAs(t, 65534, path)); !fault.Is(err, fault.Denied) {
			t.Errorf("another user: got %v", err)
		}
	}
	if err := ask(dialAs(t, os.Geteuid(), path)); !fault.Is(err, fault.NotFound) {
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
