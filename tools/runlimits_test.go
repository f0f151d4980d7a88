package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"world/broker"
	"world/canon"
	"world/confine"
	"world/store"
)

// TestRunIsBounded: what a program does without end ends, by name, and changes nothing.
func TestRunIsBounded(t *testing.T) {
	t.Parallel()
	d := newDesk(t, confine.Namespaces, "")
	for file, c := range map[string]struct {
		source, reason string
		says           string
	}{
		"loops.py":   {"open('left', 'w').write('x')\nprint('begun', flush=True)\nwhile True: pass", "timeout", "begun\n"},
		"loops.star": {"fs.write('left', 'x')\nprint('begun')\nwhile True: pass", "timeout", "begun\n"},
		"floods.py":  {"open('left', 'w').write('x')\nwhile True: print('x' * 1000)", "output_limit", "bytes left out]…"},
	} {
		d.put(file, c.source+"\n")
		began := time.Now()
		r, a := d.runsWithin(2*time.Second+takeOver, AilangRun, `{"path":"`+file+`"}`)
		if r.Status != store.StatusSucceeded || !a.Admitted || a.ExitCode != nil || a.Limit == nil || a.Limit.Reason != c.reason || a.Limit.Stage != "execute" ||
			!strings.Contains(a.Stdout, c.says) || a.Kept || a.Changes != nil || len(a.Stdout) > shownOutput+100 {
			t.Errorf("%s: %.300s %s", file, r.Output, r.Detail)
		}
		if took := time.Since(began); c.reason == "timeout" && (took < 1500*time.Millisecond || took > broker.DefaultDeadline) {
			t.Errorf("%s took %s", file, took)
		}
		if c.reason == "output_limit" && a.LeftOut < 1<<20 {
			t.Errorf("%s: %d bytes left out", file, a.LeftOut)
		}
		if !strings.HasPrefix(d.get("left"), "error") {
			t.Errorf("%s left something", file)
		}
	}
}

// TestRunLeavesNobody: what a program starts ends with it, and forks are counted.
func TestRunLeavesNobody(t *testing.T) {
	d := newDesk(t, confine.Namespaces, "")
	d.put("background.py", "import subprocess\nsubprocess.Popen(['sh','-c','sleep 60; echo late > late'])\nprint('done')\n")
	began := time.Now()
	if _, a := d.runs(AilangRun, `{"path":"background.py"}`); a.Stdout != "done\n" || *a.ExitCode != 0 || time.Since(began) > 30*time.Second {
		t.Errorf("%s: %+v", time.Since(began), a)
	}
	d.put("forks.py", "import os,time\nn = 0\ntry:\n  while True:\n    if os.fork() == 0:\n      time.sleep(60)\n    n += 1\nexcept OSError as e:\n  print(n < 200, type(e).__name__)\n")
	if r, a := d.runs(AilangRun, `{"path":"forks.py"}`); a.Stdout != "True BlockingIOError\n" {
		t.Errorf("%s %s", r.Output, r.Detail)
	}
}

// TestRunForgesNothing: a program cannot make limits and denials appear that there
// were not, and what is named has no line of ours in its text.
func TestRunForgesNothing(t *testing.T) {
	d := newDesk(t, confine.Namespaces, "")
	for file, c := range map[string]struct {
		source, limit, stdout string
		exit                  int
	}{
		"watcher.py": {"import os\nfor pid in (os.getppid(), 1, 'self'):\n  try: open(f'/proc/{pid}/mem', 'r+b'); print('opened')\n  except OSError as e: print(type(e).__name__)\n",
			"", "PermissionError\nPermissionError\nopened\n", 0},
		"signals.py": {"import os, signal, time\nfor s in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, 34}:\n  os.kill(1, s); os.kill(os.getppid(), s)\nos.kill(1, signal.SIGKILL)\ntime.sleep(0.2)\n", "", "", 0},
		"closes.py":  {"import os\nos.chmod('.', 0)\n", "", "", 0},
		"memory.py":  {"x = b'x' * (480 << 20)\nexit(1)\n", "", "", 1},
		"aborts.py":  {"import os\nx = b'x' * (480 << 20)\nos.abort()\n", "memory_limit", "", 0},
		"files.py":   {"for i in range(5000):\n  try: open(f'f{i}', 'w').close()\n  except OSError: break\n", "worktree_files_limit", "", 0},
		"scratch.py": {"import time\nfor i in range(40000):\n  open(f'/tmp/f{i}', 'w').close()\ntime.sleep(1)\n", "scratch_files_limit", "", 0},
		"tidy.py":    {"import os\nfor i in range(40000):\n  open('/tmp/f', 'w').close()\n  os.remove('/tmp/f')\n", "", "", 0},
		"limits.py": {"import resource as r\nr.setrlimit(r.RLIMIT_NOFILE, (64, 64))\nfor act in (lambda: r.prlimit(1, r.RLIMIT_FSIZE, (10, 10)), lambda: r.setrlimit(r.RLIMIT_STACK, (8 << 30, -1))):\n" +
			"  try: act(); print('set')\n  except (OSError, ValueError) as e: print(type(e).__name__)\n", "", "PermissionError\nValueError\n", 0},
		"tables.py": {"import mmap\ntry: mmap.mmap(-1, 1 << 40, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ); print('got it')\n" +
			"except OSError as e: print(e.strerror)\nmmap.mmap(-1, 1 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)\n", "", "Cannot allocate memory\n", 0},
		"shares.py": {"import mmap, os\nfor act in (lambda: mmap.mmap(-1, 1 << 20), lambda: os.memfd_create('m')):\n  try: act(); print('got it')\n  except OSError as e: print(e.strerror)\n", "", "Cannot allocate memory\nOperation not permitted\n", 0},
	} {
		d.put(file, "open('left', 'w').write('x')\n"+c.source)
		r, a := d.runs(AilangRun, `{"path":"`+file+`"}`)
		limit, exit := "", 0
		if a.Limit != nil {
			limit = a.Limit.Reason
		}
		if a.ExitCode != nil {
			exit = *a.ExitCode
		}
		if r.Status != store.StatusSucceeded || !a.Admitted || limit != c.limit || exit != c.exit || a.Stdout != c.stdout || a.Stderr != "" || a.Kept != (c.limit == "") {
			t.Errorf("%s: %s %s", file, r.Output, r.Detail)
		}
		if left := d.get("left"); (left == "x") != (c.limit == "") {
			t.Errorf("%s: left %q", file, left)
		}
		os.Remove(filepath.Join(d.worktree, "left"))
	}
}

// TestRunTakesAllThatIsAdmitted: what the transition admits at its longest reaches the
// program as it is, in a process that waited and in a fresh one, and a byte more is
// refused before anything starts.
func TestRunTakesAllThatIsAdmitted(t *testing.T) {
	d := newDesk(t, confine.Namespaces, "")
	d.put("p.star", "def main(given=None): print([len(a) for a in args] == [1024] * 32, len(stdin()), len(given))\n")
	text := func(s string) string { return string(canon.NewString(s).Bytes()) }
	longest := map[string]string{
		"argv":      "[" + strings.Repeat(text(strings.Repeat("\x01", maxArgument))+",", maxArguments-1) + text(strings.Repeat("\x01", maxArgument)) + "]",
		"args_json": text("[" + strings.Repeat("1,", maxArgsJSON/2-2) + "11]"), "stdin": text(strings.Repeat("\x01", maxStdin)),
	}
	payload := func(with map[string]string) string {
		all := `"path":"p.star"`
		for name, value := range longest {
			if given, ok := with[name]; ok {
				value = given
			}
			all += `,"` + name + `":` + value
		}
		return "{" + all + "}"
	}
	p := planned(t, "ailang-run", phase(payload(nil)))
	if len(p.Effects) != 1 {
		t.Fatalf("%.200s", p.Bytes)
	}
	for range 2 {
		if r, a := d.runs(AilangRun, string(p.Effects[0].Payload)); a.Stdout != "True 65536 63999\n" {
			t.Errorf("%+v %s", a, r.Detail)
		}
	}
	for name, value := range map[string]string{
		"argv": strings.Replace(longest["argv"], `["`, `["x`, 1), "args_json": text("[" + strings.Repeat("1,", maxArgsJSON/2-2) + "111]"), "stdin": text(strings.Repeat("x", maxStdin+1)),
	} {
		more := payload(map[string]string{name: value})
		if p := planned(t, "ailang-run", phase(more)); len(p.Effects) != 0 {
			t.Errorf("a longer %s is planned", name)
		}
		if r, _ := d.runs(AilangRun, more); r.Status != store.StatusFailed || !strings.HasSuffix(r.Detail, "what the program is given is too long") {
			t.Errorf("a longer %s: %+v", name, r)
		}
	}
}

// TestOutputIsBoundToTheByte: all that is promised is passed on, and one byte more ends
// a program though it has ended itself.
func TestOutputIsBoundToTheByte(t *testing.T) {
	d := newDesk(t, confine.Namespaces, "")
	for more, limit := range map[int]bool{0: false, 1: true} {
		for file, source := range map[string]string{
			"p.py":   "import sys\nopen('left', 'w').close()\nsys.stderr.write('e' * 1000)\nsys.stdout.write('x' * (8388608 - 1000 + %d))\n",
			"p.star": "fs.write('left', '')\neprint('e' * 999)\nprint('x' * (8388608 - 1001 + %d))\n",
		} {
			d.put(file, fmt.Sprintf(source, more))
			r, a := d.runs(AilangRun, `{"path":"`+file+`"}`)
			if (a.Limit != nil) != limit || a.Kept == limit || limit && (a.Limit.Reason != "output_limit" || a.ExitCode != nil) || len(a.Stdout) < shownOutput || a.LeftOut < 8_000_000 ||
				strings.HasPrefix(d.get("left"), "error") != limit {
				t.Errorf("%s and %d: %+v %s", file, more, a.Limit, r.Detail)
			}
			os.Remove(filepath.Join(d.worktree, "left"))
		}
	}
}
