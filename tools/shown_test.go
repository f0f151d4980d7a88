package tools

import (
	"strings"
	"testing"
	"unicode/utf8"

	"world/confine"
)

// TestWithoutPath: the worktree's path goes where it is a path, and nowhere else.
func TestWithoutPath(t *testing.T) {
	const w = "/ws/ep-1"
	for text, want := range map[string]string{
		"": "", "nothing": "nothing", w: ".", w + "/": "./", w + "/x": "x", w + "/.x": ".x", w + "/..": "..",
		"in " + w + ".\n":          "in ..\n",
		"at '" + w + "'":           "at '.'",
		"at \u2018" + w + "\u2019": "at \u2018.\u2019",
		w + ":" + w + "/bin:x":     ".:bin:x",
		"cwd=" + w + "/a b":        "cwd=a b",
		w + "//etc":                ".//etc",
		w + "/ etc":                "./ etc",
		w + " " + w + "/x":         ". x",
		w + w:                      "ws/ep-1", // below itself
		// what only has it in it
		w + "0/other":      w + "0/other",
		w + "-b":           w + "-b",
		w + "_b":           w + "_b",
		w + ".bak":         w + ".bak",
		w + "é":            w + "é",
		"/other" + w:       "/other" + w,
		"/" + w + "/x":     "/" + w + "/x",
		"." + w:            "." + w,
		"é" + w:            "é" + w,
		w + "0 " + w + "/": w + "0 ./",
	} {
		if got := withoutPath(text, w); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// FuzzWithoutPath: only the path itself goes, and text stays text.
func FuzzWithoutPath(f *testing.F) {
	f.Add("a /ws/ep-1/x /ws/ep-10")
	f.Fuzz(func(t *testing.T, text string) {
		got := withoutPath(text, "/ws/ep-1")
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Fatalf("%q became %q", text, got)
		}
		if !strings.Contains(text, "/ws/ep-1") && got != text {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

// TestOutputIsShownAsItIs: a program's output is text as far as it is, byte by byte,
// and the answer says where it was not.
func TestOutputIsShownAsItIs(t *testing.T) {
	d := newDesk(t, confine.Namespaces, "")
	var all strings.Builder
	for b := range 256 {
		if b < utf8.RuneSelf {
			all.WriteByte(byte(b))
		} else {
			all.WriteRune(utf8.RuneError)
		}
	}
	for program, want := range map[string]struct {
		out      string
		replaced int64
	}{
		"import sys; sys.stdout.buffer.write(bytes(range(256)))":             {all.String(), 128},
		"import sys; sys.stdout.buffer.write(b'\\xe2\\x82 \\xe2\\x82\\xac')": {"\ufffd\ufffd \u20ac", 2},
		"print('\\ufffd is text')":                                           {"\ufffd is text\n", 0},
		"import os; print(os.getcwd(), os.getcwd()+'/x')":                    {". x\n", 0},
	} {
		d.put("p.py", program+"\n")
		if _, a := d.runs(AilangRun, `{"path":"p.py"}`); a.Stdout != want.out || a.Replaced != want.replaced {
			t.Errorf("%s: %q, %d replaced, want %q, %d", program, a.Stdout, a.Replaced, want.out, want.replaced)
		}
	}
}
