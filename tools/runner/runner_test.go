package runner

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"world/tools/lang"
	"world/tools/policy"
)

// TestMain is the verb, and the process of Starlark programs, too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == WorkerVerb {
		if data, err := strconv.ParseUint(os.Getenv(boundData), 10, 64); err == nil {
			unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: data, Max: data})
		}
		os.Exit(Work(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	if len(os.Args) > 1 && os.Args[1] == Verb {
		os.Exit(Serve(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// boundData names the variable that bounds the memory of a Starlark program, in bytes.
const boundData = "RUNNER_TEST_DATA"

// stand is a worktree that is the working directory, and a policy.
type stand struct {
	t    *testing.T
	root string
	file string
}

func newStand(t *testing.T, change func(*policy.Policy)) stand {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := policy.For(root)
	if change != nil {
		change(&p)
	}
	raw, err := p.Render()
	if err != nil {
		t.Fatal(err)
	}
	s := stand{t, root, filepath.Join(t.TempDir(), "policy.toml")}
	if err := os.WriteFile(s.file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
	return s
}

func (s stand) put(name, content string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.root, name), []byte(content), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// run runs the verb and returns its exit code, stdout, stderr without the
// admission, and the admission.
func (s stand) run(stdin string, args ...string) (int, string, string, admission) {
	s.t.Helper()
	var stdout, stderr bytes.Buffer
	code := Serve(append([]string{"--policy", s.file}, args...), strings.NewReader(stdin), &stdout, &stderr)
	before, line, found := strings.Cut(stderr.String(), "policy: {")
	var a admission
	if found {
		line, rest, _ := strings.Cut(line, "\n")
		if err := json.Unmarshal([]byte("{"+line), &a); err != nil {
			s.t.Fatalf("%v in %s", err, line)
		}
		before += rest
	}
	return code, stdout.String(), before, a
}

func TestServe(t *testing.T) {
	s := newStand(t, nil)
	s.put("a.py", "import sys\nprint(sys.argv, sys.stdin.read())\nsys.stderr.write('open')\nsys.exit(4)\n")
	code, out, errs, a := s.run("in", "--quiet", "--", "a.py", "--", "x", "--policy")
	if code != 4 || out != "['a.py', 'x', '--policy'] in\n" || errs != "open\n" || !a.EndedLine || !a.OK || !a.Decision.OK || a.SecurityMode != "restricted" ||
		a.TimeoutMS != 8000 || a.Modules.Files != 1 || a.Limits["max_output_bytes"] != policy.DefaultOutput ||
		strings.Join(a.Unenforced, ", ") != "budgets.FS, max_fs_transfer_bytes" {
		t.Errorf("%d %q %q %+v", code, out, errs, a)
	}
	s.put("a.star", "def main(x):\n  print(x['a'], args)\n  eprint(json.encode(x))\n  exit(5)\n")
	code, out, errs, a = s.run("", "--args-json", `{"a":[1]}`, "a.star", "y")
	if code != 5 || out != "[1] [\"y\"]\n" || errs != "{\"a\":[1]}\n" || len(a.Unenforced) != 0 || a.Unenforced == nil {
		t.Errorf("%d %q %q %+v", code, out, errs, a)
	}
	for source, want := range map[string]string{
		"def main(): print('main')\nprint('top')\n": "top\nmain\n",
		"main = 3\nprint('top')\n":                  "top\n",
		"print(1, 2, sep='-')\nprint()\n":           "1-2\n\n",
		"fs.mkdir('d')\nfs.write('d/x', 'y')\nprint(fs.list('d'), fs.list('.'), fs.exists('d'), fs.exists('e/x'))\nfs.remove('d/x')\nprint(fs.list('d'))": "[\"x\"] [\"a.py\", \"a.star\", \"d/\", \"p.star\"] True False\n[]\n",
	} {
		s.put("p.star", source)
		if code, out, errs, _ := s.run("", "p.star"); code != 0 || out != want {
			t.Errorf("%q: %d %q %q", source, code, out, errs)
		}
	}
	for source, want := range map[string]string{
		"exit(256)":                  "a code is from 0 to 255",
		"fs.read('../x')":            "fs.read ../x: escapes the sandbox",
		"fs.read('.git/config')":     ".git is closed",
		"fs.write('.git/x', '')":     "E_FS_PROTECTED: .git/x .git/ is read-only",
		"fs.read('none')":            "fs.read none: no such file or directory",
		"fs.read()":                  "missing argument for path",
		"fs.write('x')":              "missing argument for text",
		"fs.remove('none')":          "no such file",
		"def main(a): pass":          "missing 1 argument",
		"def f(): fail('deep')\nf()": "p.star:2:2: in <toplevel>",
	} {
		s.put("p.star", source+"\n")
		if code, _, errs, a := s.run("", "p.star"); code != 1 || !strings.Contains(errs, want) || !a.OK {
			t.Errorf("%q: %d %q", source, code, errs)
		}
	}
	s.put("p.star", "print(1)\n")
	if code, _, errs, _ := s.run("", "--args-json", "1", "p.star"); code != 1 || !strings.Contains(errs, "args_json is handed to main, which p.star does not define") {
		t.Errorf("%d %q", code, errs)
	}
}

// TestNotAdmitted: stdout tells why, stderr is empty, and nothing runs.
func TestNotAdmitted(t *testing.T) {
	s := newStand(t, func(p *policy.Policy) { p.MaxSource = 100 })
	s.put("bad.star", "x = y\n")
	s.put("loads.star", "print('begun')\nload('bad.star', 'x')\n")
	s.put("large.py", strings.Repeat("#", 101))
	s.put("a.ail", "")
	s.put("a.sh", "")
	s.put("ok.py", "")
	for args, want := range map[string]struct {
		code int
		kind string
	}{
		"bad.star": {2, unchecked}, "loads.star": {2, unchecked}, "large.py": {2, tooLarge}, "a.ail": {2, unsupported}, "a.sh": {2, unsupported},
		"none.py": {1, readFailed}, "../x.py": {1, readFailed}, "--args-json 1 ok.py": {2, notAFunction},
	} {
		code, out, errs, _ := s.run("", strings.Fields(args)...)
		var d denial
		if err := json.Unmarshal([]byte(out), &d); err != nil || code != want.code || errs != "" || d.Decision.OK || d.Decision.ErrorKind != want.kind ||
			d.Decision.Message == "" || d.TooLarge != (want.kind == tooLarge) || strings.Contains(out, s.root) {
			t.Errorf("%s: %d %s %q", args, code, out, errs)
		}
	}
	net := newStand(t, func(p *policy.Policy) { *p = policy.ForRun(p.Sandbox, []string{"Net"}, []string{"127.0.0.1:1"}) })
	net.put("ok.py", "")
	if code, out, _, _ := net.run("", "ok.py"); code != 2 || !strings.Contains(out, `"missing_from_policy": [`+"\n      \"Net\"") {
		t.Errorf("%d %s", code, out)
	}
}

func TestRefusedCommandLines(t *testing.T) {
	s := newStand(t, nil)
	s.put("ok.py", "print(1)\n")
	for _, args := range [][]string{
		{}, {"--caps", "Net", "ok.py"}, {"--entry=x", "ok.py"}, {"--net-allow-host=x", "ok.py"}, {"--args-json", "{", "ok.py"}, {"--", "-x.py"},
		{"--args-json", strings.Repeat("[", 60_000) + strings.Repeat("]", 60_000), "ok.py"}, // too long to be repeated
	} {
		if code, out, errs, _ := s.run("", args...); code != 1 || out != "" || !strings.HasPrefix(errs, "Error: --policy: ") || len(errs) > 200 {
			t.Errorf("%v: %d %q %q", args, code, out, errs)
		}
	}
	if _, _, errs, _ := s.run("", "--caps", "Net", "ok.py"); errs != "Error: --policy: --caps is not allowed with --policy\n" {
		t.Errorf("%q", errs)
	}
	var out, errs bytes.Buffer
	for _, file := range []string{"", s.file + "x"} {
		if code := Serve([]string{"--policy=" + file, "ok.py"}, strings.NewReader(""), &out, &errs); code != 1 || out.Len() > 0 {
			t.Errorf("policy %q: %d %q", file, code, errs.String())
		}
	}
	if code, out, _, _ := s.run("", "ok.py"); code != 0 || out != "1\n" {
		t.Errorf("control: %d %q", code, out)
	}
}

func TestLimits(t *testing.T) {
	s := newStand(t, func(p *policy.Policy) { p.TimeoutMillis, p.MaxOutput = 60_000, 10_000 })
	short := newStand(t, func(p *policy.Policy) { p.TimeoutMillis, p.Sandbox = 2500, s.root })
	t.Chdir(s.root)
	s.put("loops.star", "print('begun')\nwhile True: pass\n")
	s.put("floods.py", "import sys\nsys.stderr.write('e' * 5000)\nsys.stdout.write('o' * 5001)\n")
	s.put("fits.py", "import sys\nsys.stderr.write('e' * 5000)\nsys.stdout.write('o' * 5000)\n")
	s.put("holds.py", "import subprocess\nsubprocess.Popen(['sleep', '30'])\nprint('done')\n")
	for file, want := range map[string]struct {
		reason string
		bytes  int
	}{"loops.star": {reasonTime, 6}, "floods.py": {reasonOutput, -1}, "fits.py": {"", 5000}, "holds.py": {"", 5}} {
		began, on := time.Now(), s
		if want.reason == reasonTime {
			on = short
		}
		code, out, errs, a := on.run("", file)
		if !a.OK || (code == exitLimit) != (want.reason != "") || want.bytes >= 0 && len(out) != want.bytes {
			t.Errorf("%s: %d, %d bytes, %.200q", file, code, len(out), errs)
		}
		var l limitLine
		_, line, limited := strings.Cut(errs, "policy-result: ")
		if limited {
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Errorf("%s: %v in %q", file, err, line)
			}
		}
		if limited != (want.reason != "") || l.Reason != want.reason || limited && (l.Stage != "execute" || l.Version != 1 || l.Message == "") {
			t.Errorf("%s: %+v", file, l)
		}
		if took := time.Since(began); took > 25*time.Second {
			t.Errorf("%s took %s", file, took)
		}
	}
}

// TestCallerBounds: who bounds a run's time says so, and then nobody else does, and the
// verb dies with a program that prints too much.
func TestCallerBounds(t *testing.T) {
	s := newStand(t, func(p *policy.Policy) { p.TimeoutMillis, p.MaxOutput = 300, 1000 })
	s.put("p.py", "import time\nprint('x' * 999)\ntime.sleep(0.6)\n")
	if code, out, errs, _ := s.run("", "--caller-bounds", "p.py"); code != 0 || len(out) != 1000 || errs != "" {
		t.Errorf("%d, %d bytes, %q", code, len(out), errs)
	}
	s.put("much.py", "print('x' * 1000)\n")
	cmd := exec.Command("/proc/self/exe", Verb, "--policy", s.file, "--caller-bounds", "much.py")
	out, err := cmd.Output()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); err == nil || !ok || status.Signal() != syscall.SIGKILL || string(out) != strings.Repeat("x", 1000) {
		t.Errorf("%v, %d bytes", err, len(out))
	}
	if code, _, errs, _ := s.run("", "p.py"); code != exitLimit || !strings.Contains(errs, "policy-result: ") {
		t.Errorf("control: %d %q", code, errs)
	}
}

func TestBudgetsAndCapabilities(t *testing.T) {
	s := newStand(t, func(p *policy.Policy) { p.Budgets = map[string]int{"FS": 2} })
	s.put("p.star", "fs.exists('a')\nfs.exists('b')\nprint('two')\nfs.exists('c')\n")
	if code, out, errs, _ := s.run("", "p.star"); code != 1 || out != "two\n" || !strings.Contains(errs, "budget exhausted: limit=2 for the whole run") {
		t.Errorf("%d %q %q", code, out, errs)
	}
	s = newStand(t, func(p *policy.Policy) { *p = policy.ForRun(p.Sandbox, []string{"IO"}, nil) })
	s.put("p.star", "fs.exists('a')\n")
	if code, out, errs, _ := s.run("", "p.star"); code != 1 || out != "" || !strings.Contains(errs, "effect 'FS' requires capability, but none provided: name it in caps") || strings.Contains(errs, "budget") {
		t.Errorf("FS was not asked for: %d %q %q", code, out, errs)
	}
	s = newStand(t, func(p *policy.Policy) { *p = policy.ForRun(p.Sandbox, []string{"Env"}, nil) })
	t.Setenv("OF_THE_RUN", "x")
	s.put("p.star", "v = env('OF_THE_RUN')\nexit(7 if v == 'x' and env('none') == None else 1)\n")
	if code, _, errs, a := s.run("", "p.star"); code != 7 || a.SecurityMode != "trusted_host" {
		t.Errorf("%d %q", code, errs)
	}
	s.put("p.star", "stdin()\n")
	if code, _, errs, _ := s.run("", "p.star"); code != 1 || !strings.Contains(errs, "effect 'IO' requires capability") {
		t.Errorf("%d %q", code, errs)
	}
	s.put("p.py", "print(1)\n")
	if _, _, _, a := s.run("", "p.py"); strings.Join(a.Unenforced, ", ") != "allowed_caps without FS, allowed_caps without IO, budgets.FS, max_fs_transfer_bytes" {
		t.Errorf("%v", a.Unenforced)
	}
}

// TestExamplesRun: what the corpus shows works.
func TestExamplesRun(t *testing.T) {
	all, err := lang.Examples("")
	if err != nil {
		t.Fatal(err)
	}
	s := newStand(t, nil)
	s.put("words.txt", "one two three\n")
	s.put("test_one.py", "import unittest\nclass T(unittest.TestCase):\n  def test(self): self.assertEqual(1, 1)\n")
	for _, e := range all {
		s.put(e.File, e.Source)
		want := map[string]string{"count_words": "words.txt 3\n", "filter_input": "a\nb\n", "rewrite_json": "runs: 1\n", "run_tests": "OK\n"}[strings.Split(e.File, ".")[0]]
		code, out, errs, _ := s.run("a\n\nb\n", e.File, "words.txt")
		if want == "" || code != 0 || !strings.HasSuffix(out, want) {
			t.Errorf("%s: %d %q %q", e.File, code, out, errs)
		}
	}
}
