package confine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"world/confine"
	"world/confine/confinetest"
	"world/fault"
)

// attacks is the program whose verbs try to get out.
const attacks = "world/confine/testdata/attack"

func attack(t testing.TB) *confine.Image { return confinetest.Image(t, attacks) }

// TestOrdinaryUser runs the tests of the fence again as an ordinary user.
func TestOrdinaryUser(t *testing.T) {
	confinetest.AsOrdinaryUser(t, "^Test(Fence|Kill|Limits|Result|Reach|Overlay|Warm)", attacks)
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
		t: t, image: attack(t), user: confine.UserOf("test"),
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

func TestFence(t *testing.T) {
	for _, level := range []confine.Level{confine.Namespaces, confine.Landlock} {
		fenced, open := newSite(t, level), newSite(t, confine.Process)
		fenced.forms(func(s site, form string, change func(confine.Spec) confine.Spec) {
			t.Run(level.String()+"/"+form, func(t *testing.T) { testFence(t, s, open, form, change) })
		})
	}
}

// testFence runs each attack inside the fence, where it must fail, and without
// one, where it must succeed: or else its failing would prove nothing.
func testFence(t *testing.T, fenced, open site, form string, change func(confine.Spec) confine.Spec) {
	type attempt struct {
		name string
		args func(s site) []string
	}
	fixed := func(args ...string) func(site) []string { return func(site) []string { return args } }
	attempts := []attempt{
		{"write outside", func(s site) []string { return []string{"write", filepath.Join(s.outside, "x")} }},
		{"write through ..", func(s site) []string { return []string{"write", "../../outside/y"} }},
		{"make a folder beside", func(s site) []string { return []string{"mkdir", filepath.Join(s.outside, form)} }},
		{"remove outside", func(s site) []string {
			path := filepath.Join(s.outside, "victim")
			if err := os.WriteFile(path, nil, 0o666); err != nil {
				t.Fatal(err)
			}
			if err := confine.HandOver(path, s.user); err != nil {
				t.Fatal(err)
			}
			return []string{"remove", path}
		}},
		{"read a hidden file", func(s site) []string { return []string{"read", s.secret} }},
		{"write through a link out", func(s site) []string {
			link := filepath.Join(s.worktree, "link")
			os.Remove(link)
			if err := os.Symlink(filepath.Join(s.outside, "z"), link); err != nil {
				t.Fatal(err)
			}
			return []string{"write", link}
		}},
	}
	for address, network := range listeners(t, fenced.outside) {
		attempts = append(attempts, attempt{"connect to " + network, fixed("connect", network, address)})
	}
	attempts = append(attempts, attempt{"connect by udp", fixed("connect", "udp", "127.0.0.1:9")})
	if form == "verb" {
		attempts = append(attempts, attempt{"fork", fixed("fork", "1")}, attempt{"ring", fixed("ring")})
	}
	if form == "program" && fenced.jail.Reach().Level == confine.Namespaces {
		attempts = append(attempts, attempt{"fork many", fixed("fork", "40")})
	}
	for _, a := range attempts {
		t.Run(a.name, func(t *testing.T) {
			fenced.t, open.t = t, t
			if got := fenced.run(change(fenced.spec(a.args(fenced)...))); got.Exit == 0 || got.Exit != 1 && a.name != "fork many" {
				t.Errorf("inside: %d %s %q %q", got.Exit, got.Bound, got.Stdout, got.Stderr)
			}
			spec := change(open.spec(a.args(open)...))
			spec.Limits.Processes = 4096
			if got := open.run(spec); got.Exit != 0 {
				t.Errorf("control: %d %s %q %q", got.Exit, got.Bound, got.Stdout, got.Stderr)
			}
		})
	}
	t.Run("write inside", func(t *testing.T) {
		fenced.t = t
		if got := fenced.run(change(fenced.spec("write", "inside"))); got.Exit != 0 {
			t.Errorf("%d %q %q", got.Exit, got.Stdout, got.Stderr)
		}
		if b, err := os.ReadFile(filepath.Join(fenced.worktree, "inside")); err != nil || string(b) != "written" {
			t.Errorf("worktree holds %q, %v", b, err)
		}
		spec := change(fenced.spec("write", "inside"))
		spec.ReadOnly = true
		if got := fenced.run(spec); got.Exit != 1 {
			t.Errorf("read only: %d %q", got.Exit, got.Stdout)
		}
	})
}

// TestFenceView looks at what is left of the host inside.
func TestFenceView(t *testing.T) {
	s := newSite(t, confine.Namespaces)
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{home, "/tmp", "/run", "/var/tmp", filepath.Dir(s.worktree)} {
		got := s.run(s.program("list", dir))
		names := strings.Fields(strings.TrimPrefix(string(got.Stdout), "ok "))
		for _, name := range names {
			if path := filepath.Join(dir, name); path != confine.Home && !strings.HasPrefix(s.worktree+"/", path+"/") {
				t.Errorf("%s shows %s", dir, name)
			}
		}
	}
	for _, path := range []string{"/etc/x", "/usr/x", "/dev/shm/x", "/dev/x", "/run/x", "/var/tmp/x", "/proc/sys/kernel/hostname"} {
		if got := s.run(s.program("write", path)); got.Exit != 1 {
			t.Errorf("wrote %s: %q", path, got.Stdout)
		}
	}
	for _, path := range []string{"/tmp/x", filepath.Join(confine.Home, "x"), "/dev/null"} {
		if got := s.run(s.program("write", path)); got.Exit != 0 {
			t.Errorf("%s: %q", path, got.Stdout)
		}
	}
	for _, line := range strings.Split(strings.TrimPrefix(string(s.run(s.program("read", "/proc/self/mountinfo")).Stdout), "ok "), "\n") {
		fields := strings.Fields(line)
		if len(fields) < 6 || strings.HasPrefix(fields[5], "ro,") || fields[5] == "ro" {
			continue
		}
		at := fields[4]
		if at != "/tmp" && at != "/proc" && at != s.worktree && !strings.HasPrefix(at, "/dev/") {
			t.Errorf("%s is mounted to be written: %s", at, line)
		}
	}
	spec := s.program("grow", "/tmp/big")
	spec.Limits.FileSize = 1 << 30
	if got := s.run(spec); !strings.Contains(string(got.Stdout), "no space left") {
		t.Errorf("private /tmp grew without end: %q", got.Stdout)
	}
	spec = s.program("read", s.secret)
	spec.Readable = []string{filepath.Dir(s.outside)}
	if _, err := s.jail.Run(context.Background(), spec); !fault.Is(err, fault.Invalid) {
		t.Errorf("a folder to show uncovered a hidden one: %v", err)
	}
	spec = s.program("list", s.outside)
	spec.Readable = []string{s.outside}
	if got := s.run(spec); got.Exit != 0 {
		t.Errorf("a folder to show is not there: %q", got.Stdout)
	}
	spec = s.program("write", filepath.Join(s.outside, "shown"))
	spec.Readable = []string{s.outside}
	if got := s.run(spec); got.Exit != 1 {
		t.Errorf("a folder to show can be written")
	}
}

// TestFenceBare: a verb finds nothing of the system at all, and can write no more.
func TestFenceBare(t *testing.T) {
	s := newSite(t, confine.Namespaces)
	for _, test := range []struct {
		verb, path   string
		verbs, other int // exit codes of a verb and of a program
	}{
		{"read", "/etc/passwd", 1, 0}, {"list", "/usr", 1, 0}, {"list", "/dev", 1, 0}, {"list", filepath.Dir(s.worktree), 0, 0},
		{"list", s.worktree, 0, 0}, {"write", "/x", 1, 1}, {"write", "/tmp/x", 0, 0},
	} {
		if got := s.run(s.spec(test.verb, test.path)); got.Exit != test.verbs {
			t.Errorf("a verb: %s %s: %d %q", test.verb, test.path, got.Exit, got.Stdout)
		}
		if got := s.run(s.program(test.verb, test.path)); got.Exit != test.other {
			t.Errorf("a program: %s %s: %d %q", test.verb, test.path, got.Exit, got.Stdout)
		}
	}
	top := strings.Fields(strings.TrimPrefix(string(s.run(s.spec("list", "/")).Stdout), "ok "))
	for _, name := range top {
		if name != "proc" && name != "tmp" && !strings.HasPrefix(s.worktree, "/"+name+"/") {
			t.Errorf("a verb sees /%s", name)
		}
	}
	spec := s.spec("list", s.outside)
	spec.Readable = []string{s.outside}
	if got := s.run(spec); got.Exit != 0 {
		t.Errorf("a folder to show is not there: %q", got.Stdout)
	}
}

// TestFenceHides hides a directory that lies in plain sight.
func TestFenceHides(t *testing.T) {
	const plain = "/usr/share"
	s := newSite(t, confine.Namespaces)
	if got := s.run(s.program("list", plain)); len(strings.Fields(string(got.Stdout))) < 2 {
		t.Fatalf("control: %q", got.Stdout)
	}
	spec := s.program("list", plain)
	spec.Hidden = []string{"/usr/share/doc", plain, "/usr/none"}
	if got := s.run(spec); got.Exit != 0 || string(got.Stdout) != "ok " {
		t.Errorf("hidden by the run: %q", got.Stdout)
	}
	jail, err := confine.New(confine.Options{Stage: s.image, Hidden: []string{plain}})
	if err != nil {
		t.Fatal(err)
	}
	s.jail = jail
	if got := s.run(s.program("list", plain)); got.Exit != 0 || string(got.Stdout) != "ok " {
		t.Errorf("hidden by the jail: %q", got.Stdout)
	}
	if got := s.run(s.program("write", plain+"/x")); got.Exit != 1 {
		t.Errorf("a hidden place can be written: %q", got.Stdout)
	}
	if jail.CanShow(plain, nil, s.user) || jail.CanShow("/usr", nil, s.user) || jail.CanShow(s.outside, []string{s.outside}, s.user) || !jail.CanShow(s.outside, nil, s.user) {
		t.Error("what may be shown")
	}
}

// TestFenceCalls tries system calls that programs inside have no use for.
func TestFenceCalls(t *testing.T) {
	for _, level := range []confine.Level{confine.Namespaces, confine.Landlock} {
		s := newSite(t, level)
		for _, args := range [][]string{{"unshare"}, {"ptrace", "1"}, {"ring"}} {
			spec := s.spec(args...)
			spec.Program = s.image
			if got := s.run(spec); got.Exit != 1 || !strings.Contains(string(got.Stdout), "operation not permitted") {
				t.Errorf("%s %v: %d %q", level, args, got.Exit, got.Stdout)
			}
		}
	}
	// What watches a program cannot be read or written by it.
	s := newSite(t, confine.Namespaces)
	for path, want := range map[string]int{"/proc/1/environ": 1, "/proc/1/mem": 1, "/proc/self/environ": 0} {
		spec := s.spec("read", path)
		spec.Program = s.image
		if got := s.run(spec); got.Exit != want {
			t.Errorf("%s: %d %q", path, got.Exit, got.Stdout)
		}
	}
	open := newSite(t, confine.Process)
	if got := open.run(open.spec("ring")); strings.Contains(string(got.Stdout), "operation not permitted") {
		t.Errorf("control: %q", got.Stdout)
	}
}

// TestFenceMemory: beside the private memory that the limit counts there is none but
// files, and what is inside goes first when memory runs out.
func TestFenceMemory(t *testing.T) {
	for _, level := range []confine.Level{confine.Namespaces, confine.Landlock, confine.Process} {
		s := newSite(t, level)
		for _, args := range [][]string{{"share", "anonymous"}, {"share", "stack"}, {"share", "/dev/zero"}, {"memfd"}, {"segment"}} {
			spec := s.program(args...)
			if got := s.run(spec); (got.Exit == 0) != (level == confine.Process) || got.Bound != confine.Unbounded {
				t.Errorf("%s %v: %d %q %q", level, args, got.Exit, got.Bound, got.Stdout)
			}
		}
		if err := errors.Join(os.WriteFile(filepath.Join(s.worktree, "file"), make([]byte, 1<<20), 0o644),
			confine.HandOver(filepath.Join(s.worktree, "file"), s.user)); err != nil {
			t.Fatal(err)
		}
		if got := s.run(s.program("share", filepath.Join(s.worktree, "file"))); got.Exit != 0 {
			t.Errorf("%s: control: the map of a file: %q", level, got.Stdout)
		}
		if level == confine.Landlock {
			continue // nothing there can read it
		}
		s.forms(func(s site, form string, change func(confine.Spec) confine.Spec) {
			if got := s.run(change(s.spec("read", "/proc/self/oom_score_adj"))); string(got.Stdout) != "ok 1000\n" {
				t.Errorf("%s %s: %q", level, form, got.Stdout)
			}
		})
	}
	s := newSite(t, confine.Namespaces)
	spec := s.spec("-c", `head -c 9 /dev/zero | od -An -tx1`)
	spec.Path, spec.Env = "/bin/sh", []string{"PATH=/usr/bin:/bin"}
	if got := s.run(spec); strings.TrimSpace(string(got.Stdout)) != "00 00 00 00 00 00 00 00 00" {
		t.Errorf("zeros: %q %q", got.Stdout, got.Stderr)
	}
}

// TestFenceEnvironment: nothing comes in but what the spec names.
func TestFenceEnvironment(t *testing.T) {
	t.Setenv("WORLD_TEST_LEAK", "leaked")
	leak, err := unix.Open("/dev/zero", unix.O_RDONLY, 0) // not closed on execution, as if inherited
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(leak)
	for _, level := range []confine.Level{confine.Namespaces, confine.Landlock, confine.Process} {
		s := newSite(t, level)
		s.forms(func(s site, form string, change func(confine.Spec) confine.Spec) {
			if level == confine.Landlock {
				return // it cannot look at /proc there
			}
			spec := change(s.spec("look"))
			spec.Env = []string{"A=1", "B=x=y"}
			got := s.run(spec)
			var seen struct {
				FDs, Env, Args []string
				Block          string // the environment it was started with
				UID, GID       int
				Groups         []int
				Dir            string
				Caps           uint32
			}
			if err := json.Unmarshal([]byte(strings.TrimPrefix(string(got.Stdout), "ok ")), &seen); err != nil {
				t.Fatalf("%q %q: %v", got.Stdout, got.Stderr, err)
			}
			if strings.Contains(seen.Block, "LEAK") {
				t.Errorf("%s %s: started with %q", level, form, seen.Block)
			}
			wantFDs := []string{"0", "1", "2"}
			if form == "verb" { // the first stage keeps its lifeline and its report
				wantFDs = append(wantFDs, "4", "5")
			}
			if !slices.Equal(seen.FDs, wantFDs) || !slices.Equal(seen.Env, spec.Env) {
				t.Errorf("%s %s: descriptors %v, environment %v", level, form, seen.FDs, seen.Env)
			}
			if seen.UID != int(s.user) || seen.GID == 0 || slices.Contains(seen.Groups, 0) || seen.Caps != 0 || seen.Dir != s.worktree {
				t.Errorf("%s %s: %+v", level, form, seen)
			}
		})
	}
}
