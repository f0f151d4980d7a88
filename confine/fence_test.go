package confine_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"world/confine"
	"world/fault"
)

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
	for dir, want := range map[string][]string{"/tmp": {"home"}, filepath.Dir(s.worktree): {filepath.Base(s.worktree)}} {
		for _, name := range s.listed(dir) {
			if path := filepath.Join(dir, name); !slices.Contains(want, name) && !strings.HasPrefix(s.worktree+"/", path+"/") {
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

// listed is what a program finds in a directory.
func (s site) listed(dir string) []string {
	s.t.Helper()
	got := s.run(s.program("list", dir))
	names, ok := strings.CutPrefix(string(got.Stdout), "ok ")
	if !ok {
		s.t.Fatalf("%s: %q", dir, got.Stdout)
	}
	return strings.Fields(names)
}

// elsewhere makes a directory that does not lie below /tmp, of which each program has
// one of its own.
func elsewhere(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "world-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestFenceRest: of the rest of the machine nothing has a name inside, wherever it lies
// and whoever may read it.
func TestFenceRest(t *testing.T) {
	s := newSite(t, confine.Namespaces)
	lies := elsewhere(t)
	s.secret = filepath.Join(lies, "secret")
	if err := os.WriteFile(s.secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	spec := s.program("read", s.secret)
	if got := s.run(spec); got.Exit != 1 {
		t.Errorf("a program reads %q", got.Stdout)
	}
	spec.Readable = []string{lies}
	if got := s.run(spec); string(got.Stdout) != "ok secret" {
		t.Errorf("control: %q", got.Stdout)
	}
	top := s.listed("/")
	for _, name := range top {
		system := slices.Contains([]string{"usr", "bin", "sbin", "etc", "dev", "proc", "tmp"}, name) || strings.HasPrefix(name, "lib")
		if !system && !strings.HasPrefix(s.worktree, "/"+name+"/") {
			t.Errorf("a program sees /%s", name)
		}
	}
	for _, link := range []string{"/bin", "/sbin", "/lib", "/lib64"} {
		want, err := os.Readlink(link)
		if err != nil {
			continue
		}
		if got := s.run(s.program("link", link)); string(got.Stdout) != "ok "+want {
			t.Errorf("%s is %q and not a link to %s", link, got.Stdout, want)
		}
	}
	if got := s.run(s.program("write", "/x")); got.Exit != 1 {
		t.Errorf("wrote beside the system's directories: %q", got.Stdout)
	}
}

// TestFenceOwn: what an ordinary user keeps for himself in the system's directories is
// not his programs'.
func TestFenceOwn(t *testing.T) {
	s := newSite(t, confine.Namespaces)
	dir := elsewhere(t)
	open, shut, folder := filepath.Join(dir, "open"), filepath.Join(dir, "shut"), filepath.Join(dir, "folder")
	for _, err := range []error{
		os.WriteFile(open, []byte("open"), 0o644), os.WriteFile(shut, []byte("shut"), 0o640),
		os.Mkdir(folder, 0o710), os.WriteFile(filepath.Join(folder, "in"), []byte("in"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	confine.AddSystemDir(t, dir)
	if got := s.run(s.program("read", open)); string(got.Stdout) != "ok open" {
		t.Errorf("control: %q", got.Stdout)
	}
	for _, path := range []string{shut, filepath.Join(folder, "in")} {
		if got := s.run(s.program("read", path)); got.Exit != 1 {
			t.Errorf("a program reads %q", got.Stdout)
		}
	}
	spec := s.program("read", filepath.Join(folder, "in"))
	spec.Readable = []string{folder}
	if got := s.run(spec); os.Geteuid() != 0 && string(got.Stdout) != "ok in" {
		t.Errorf("what is shown by name: %q", got.Stdout)
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

// TestSharedNetwork: verbs that may not make a socket share one network when root runs
// them, and it is not the daemon's; whoever may has one of its own.
func TestSharedNetwork(t *testing.T) {
	s := newSite(t, confine.Namespaces)
	outside, err := os.Readlink("/proc/thread-self/ns/net") // the main thread may be one that starts runs
	if err != nil {
		t.Fatal(err)
	}
	network := func(change func(*confine.Spec)) string {
		spec := s.spec("link", "/proc/self/ns/net")
		change(&spec)
		got := s.run(spec)
		name, ok := strings.CutPrefix(string(got.Stdout), "ok net:")
		if !ok || "net:"+name == outside {
			t.Errorf("in %s, and the daemon in %s", got.Stdout, outside)
		}
		return name
	}
	closed := func(spec *confine.Spec) { spec.Sockets = false }
	first, second := network(closed), network(closed)
	root := os.Geteuid() == 0 // a network that nobody is in any more may lend its name to the next one
	if root && first != second {
		t.Errorf("one verb is in %s, another in %s", first, second)
	}
	for name, change := range map[string]func(*confine.Spec){
		"a verb with sockets": func(spec *confine.Spec) { spec.Sockets = true },
		"a program":           func(spec *confine.Spec) { closed(spec); spec.Program = s.image },
	} {
		if own := network(change); root && own == first {
			t.Errorf("%s shares its network", name)
		}
	}
	// There is nothing in it but a loopback that is down.
	spec := s.spec("read", "/proc/net/dev")
	closed(&spec)
	if got := string(s.run(spec).Stdout); strings.Count(got, ":") != 1 || !strings.Contains(got, "lo:") {
		t.Errorf("interfaces: %s", got)
	}
}

// TestFenceSignals: a program cannot make process 1, which watches it, break off by a
// signal that looks like a fault of its own.
func TestFenceSignals(t *testing.T) {
	s := newSite(t, confine.Namespaces)
	if got := s.run(s.program("queue", "1")); string(got.Stdout) != "ok 0" || got.Exit != 0 {
		t.Errorf("%+v", got)
	}
}

// TestFenceMeddling: a program sets limits and priorities of its own and not those of
// process 1, which judges and takes over what it leaves; nor is it in its session.
func TestFenceMeddling(t *testing.T) {
	s := newSite(t, confine.Namespaces)
	for pid, want := range map[string]string{"1": "ok 0 of 7", "0": "ok 7 of 7"} {
		if got := s.run(s.program("meddle", pid)); string(got.Stdout) != want {
			t.Errorf("process %s: %q %q", pid, got.Stdout, got.Stderr)
		}
	}
	spec := s.program()
	spec.Program, spec.Path, spec.Env = nil, "/bin/sh", []string{"PATH=/usr/bin:/bin"}
	spec.Args = []string{"-c", "read pid name state parent group session rest < /proc/self/stat; test $session != 1 && ulimit -f 1 && nice -n 1 true && echo own"}
	if got := s.run(spec); string(got.Stdout) != "own\n" {
		t.Errorf("%q %q", got.Stdout, got.Stderr)
	}
}
