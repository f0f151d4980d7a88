package runner

import (
	"strings"
	"testing"

	"world/tools/lang"
)

// TestStarlarkGivesUpInALine: a program that asks for too much is told so in its own
// terms, with code 1, and nothing of the interpreter's insides is shown.
func TestStarlarkGivesUpInALine(t *testing.T) {
	s := newStand(t, nil)
	t.Setenv(boundData, "536870912")
	for name, c := range map[string]struct{ source, want string }{
		"recursion":     {"eprint('begun')\ndef f(n): return f(n + 1)\ndef main():\n  f(0)\n", "recursion too deep: more than 10000 calls within each other"},
		"mutual":        {"def f(n): return g(n)\ndef g(n): return f(n)\nf(0)\n", "calls left out"},
		"through sort":  {"def f(n): return sorted([n], key=f)\nf(0)\n", "recursion too deep"},
		"memory":        {"eprint('begun')\nx = 'x'\nfor i in range(40):\n  x = x + x\n", "Error: p.star: out of memory: its values need more than one process may have\n"},
		"many":          {"eprint('no end')\nx = []\nwhile True: x.append('y' * 9000000 + 'x')\n", "Error: p.star: out of memory"},
		"nested values": {"x = ()\nfor i in range(1000000):\n  x = (x,)\nprint({x: 1})\n", "Error: p.star: values nested too deep: working on one needs more than 67108864 bytes"},
	} {
		s.put("p.star", c.source)
		code, _, errs, a := s.run("", "p.star")
		if code != 1 || !strings.Contains(errs, c.want) || strings.Count(errs, "Error: ") != 1 || len(errs) > 2000 || !a.OK {
			t.Errorf("%s: %d, %d bytes: %.2000s", name, code, len(errs), errs)
		}
		for _, inside := range []string{"goroutine", "runtime", "0x", ".go:"} {
			if strings.Contains(errs, inside) {
				t.Errorf("%s shows %q", name, inside)
			}
		}
		if said, _, _ := strings.Cut(c.source, "\n"); strings.HasPrefix(said, "eprint('") && !strings.HasPrefix(errs, strings.TrimSuffix(strings.TrimPrefix(said, "eprint('"), "')")+"\n") {
			t.Errorf("%s: what the program said is lost: %.200s", name, errs)
		}
	}
}

// TestTheGuideTellsTheDepth: what is promised to who writes a program is what holds.
func TestTheGuideTellsTheDepth(t *testing.T) {
	if maxDepth != 10_000 || !strings.Contains(lang.Guide, "calls nest at most 10,000 deep") {
		t.Error("the guide tells of another depth")
	}
}

// TestDeepIsNotTooDeep: what stays within the bounds works, and words like those of a
// runtime are a program's own when it writes them.
func TestDeepIsNotTooDeep(t *testing.T) {
	s := newStand(t, nil)
	s.put("p.star", "def f(n): return n if n == 0 else 1 + f(n - 1)\nprint(f(8000))\n")
	if code, out, errs, _ := s.run("", "p.star"); code != 0 || out != "8000\n" || errs != "" {
		t.Errorf("%d %q %.500q", code, out, errs)
	}
	s.put("p.star", "x = 1"+strings.Repeat("+1", 100_000)+"\n")
	if code, out, errs, _ := s.run("", "p.star"); code != exitDenied || !strings.Contains(out, "nested too deep") || errs != "" {
		t.Errorf("%d %.500q %.500q", code, out, errs)
	}
	s.put("p.star", "eprint('fatal error: stack overflow')\nexit(2)\n")
	if code, _, errs, _ := s.run("", "p.star"); code != 2 || errs != "fatal error: stack overflow\n" {
		t.Errorf("%d %q", code, errs)
	}
	s.put("p.star", "def f(): fail('here')\nf()\n")
	if code, _, errs, _ := s.run("", "p.star"); code != 1 || !strings.Contains(errs, "p.star:2:2: in <toplevel>\n  p.star:1:14: in f\n") || strings.Contains(errs, "left out") {
		t.Errorf("%d %q", code, errs)
	}
}

// TestWhyAnInterpreterGivesUp: the words of Go's runtime that memory can end with, and
// others.
func TestWhyAnInterpreterGivesUp(t *testing.T) {
	for words, want := range map[string]string{
		"runtime: out of memory: cannot allocate 4194304-byte block (534773760 in use)\nfatal error: out of memory\n":                                      "out of memory",
		"fatal error: runtime: cannot allocate memory\n":                                                                                                   "out of memory",
		"SIGSEGV: segmentation violation\nPC=0x43519d m=0 sigcode=1 addr=0x0\n\ngoroutine 0 gp=0x8ff160 m=0 [idle]:\nruntime.(*spanQueue).tryDrain(0x4)\n": "out of memory",
		"SIGSEGV: segmentation violation\nPC=0x1 m=0\n\ngoroutine 7 gp=0x8ff160 m=0 [running]:\nmain.main()\n":                                             "the interpreter gave up",
		"fatal error: stack overflow\n": "values nested too deep",
		"fatal error: newosproc\n":      "the interpreter gave up",
	} {
		if got := whyGivenUp([]byte(words)); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s", words, got)
		}
	}
}
