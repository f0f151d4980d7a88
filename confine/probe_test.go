package confine

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestProbesShareNoUser: the kernel counts a user's processes on the whole machine, so
// the bound that one probe runs under must not be used up by another.
func TestProbesShareNoUser(t *testing.T) {
	users := map[User]bool{}
	const probes = 3
	for range probes {
		target, err := newTarget()
		if err != nil {
			t.Fatal(err)
		}
		defer target.close()
		users[target.user] = true
		if info, err := os.Stat(filepath.Join(target.worktree, "canary")); err != nil || User(info.Sys().(*syscall.Stat_t).Uid) != target.user {
			t.Errorf("the canary is not %d's: %v", target.user, err)
		}
	}
	want := probes
	if self := os.Geteuid(); self != 0 { // who can only be himself, and sets no such bound
		want = 1
		if !users[User(self)] {
			t.Errorf("the probes of user %d run as %v", self, users)
		}
	}
	if len(users) != want || users[0] {
		t.Errorf("%d probes run as %v", probes, users)
	}
}

// TestSweep: the target that a killed probe left goes with the next probe, and
// nothing else does.
func TestSweep(t *testing.T) {
	tmp, elsewhere := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", tmp)
	made := func(name string, age time.Duration) string {
		path := filepath.Join(tmp, name)
		if err := os.Mkdir(path, 0o711); err != nil {
			t.Fatal(err)
		}
		listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(path, "socket"), Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		listener.SetUnlinkOnClose(false)
		listener.Close()
		then := time.Now().Add(-age)
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
		return path
	}
	dead, young, other := made(targetPrefix+"1", 2*targetAge), made(targetPrefix+"2", 0), made("world-1", 2*targetAge)
	live, err := newTarget() // sweeps as it is made, and would be swept by the next
	if err != nil {
		t.Fatal(err)
	}
	defer live.close()
	if _, err := os.Lstat(dead); err == nil {
		t.Error("what a killed probe left is still there")
	}
	dead = made(targetPrefix+"3", 2*targetAge)
	then := time.Now().Add(-2 * targetAge)
	if err := os.Chtimes(live.dir, then, then); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(tmp, targetPrefix+"4")
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Fatal(err)
	}
	next, err := newTarget()
	if err != nil {
		t.Fatal(err)
	}
	next.close()
	if _, err := os.Lstat(dead); err == nil {
		t.Error("what a second killed probe left is still there")
	}
	for _, path := range []string{young, other, live.dir, live.file, link, elsewhere} {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("swept: %v", err)
		}
	}
}

// TestSilentBubblewrap: one that ends without a word is told by how it ended, and is not
// what a setting of the kernel helps.
func TestSilentBubblewrap(t *testing.T) {
	stage, err := SealFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer stage.Close()
	j := &Jail{stage: stage, bwrap: "/bin/false", outer: true}
	target, err := newTarget()
	if err != nil {
		t.Fatal(err)
	}
	defer target.close()
	got, err := j.attack(Namespaces, target)
	f := j.missed(Namespaces, got, err)
	if f.Detail != "false ended without a word: exit status 1" || strings.Contains(f.Remedy, "sysctl") || !strings.Contains(f.Remedy, "bubblewrap") {
		t.Errorf("%+v", f)
	}
}
