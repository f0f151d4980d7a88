package confine_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"world/confine"
	"world/confine/confinetest"
)

// attacks is the program whose verbs try to get out.
const attacks = "world/confine/testdata/attack"

func attack(t testing.TB) *confine.Image { return confinetest.Image(t, attacks) }

// TestOrdinaryUser runs the tests of the fence again as an ordinary user.
func TestOrdinaryUser(t *testing.T) {
	confinetest.AsOrdinaryUser(t, "^Test(Fence|Fork|Kill|Limits|Result|Reach|Overlay|Warm|Answered|NotYet|Shared|Sweep)", attacks)
}

// site is a jail with a worktree, and things outside it to attack.
type site struct {
	t        testing.TB
	jail     *confine.Jail
	image    *confine.Image
	user     confine.User
	worktree string
	outside  string // a directory that anybody may write, beside the worktree
	secret   string // a file in a hidden directory that anybody may read
}

func newSite(t testing.TB, ceiling confine.Level) site {
	t.Helper()
	base := confinetest.Dir(t)
	s := site{
		t: t, image: attack(t), user: confine.UserOf("test " + base), // whose processes nobody else counts
		worktree: filepath.Join(base, "root", "worktree"), outside: filepath.Join(base, "outside"),
		secret: filepath.Join(base, "state", "secret"),
	}
	for _, dir := range []string{filepath.Dir(s.worktree), s.worktree, s.outside, filepath.Dir(s.secret)} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{
		os.Chmod(s.outside, 0o777), os.WriteFile(s.secret, []byte("secret"), 0o644),
		confine.HandOver(s.worktree, s.user),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	jail, err := confine.New(confine.Options{Stage: s.image, Hidden: []string{filepath.Dir(s.secret)}, Ceiling: ceiling})
	if err != nil {
		t.Fatal(err)
	}
	if jail.Reach().Level != ceiling {
		t.Fatalf("the machine reaches %s", jail.Reach())
	}
	s.jail = jail
	return s
}

func (s site) spec(args ...string) confine.Spec {
	return confine.Spec{Args: args, Worktree: s.worktree, User: s.user, Limits: confine.Limits{
		Wall: 20 * time.Second, CPU: 10 * time.Second, Memory: 256 << 20, FileSize: 1 << 20, Files: 64,
		Processes: 64, Output: 1 << 16, Scratch: 1 << 20,
	}}
}

// program is a spec of a program that is not the first stage, though its bytes are.
func (s site) program(args ...string) confine.Spec {
	spec := s.spec(args...)
	spec.Program = s.image
	return spec
}

func (s site) run(spec confine.Spec) confine.Result {
	s.t.Helper()
	result, err := s.jail.Run(context.Background(), spec)
	if err != nil {
		s.t.Fatalf("%v: %v", spec.Args, err)
	}
	return result
}

// forms are the two ways in which a program runs: as a verb of the first stage,
// and as its child.
func (s site) forms(test func(s site, form string, change func(confine.Spec) confine.Spec)) {
	test(s, "verb", func(spec confine.Spec) confine.Spec { return spec })
	test(s, "program", func(spec confine.Spec) confine.Spec { spec.Program = s.image; return spec })
}

// listeners are what a program must not reach: TCP, UDP, and unix sockets by path
// and by abstract name.
func listeners(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	path := filepath.Join(dir, "socket")
	abstract := "@world-test-" + filepath.Base(filepath.Dir(dir)) + fmt.Sprint(os.Getpid())
	for _, l := range [][2]string{{"tcp", "127.0.0.1:0"}, {"unix", path}, {"unix", abstract}} {
		listener, err := net.Listen(l[0], l[1])
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { listener.Close() })
		found[listener.Addr().String()] = l[0]
	}
	if err := os.Chmod(path, 0o777); err != nil {
		t.Fatal(err)
	}
	return found
}
