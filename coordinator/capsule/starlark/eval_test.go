package starlark

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"world/coordinator/capsule"
)

func TestEval(t *testing.T) {
	tests := []struct{ name, source, input, want string }{
		{"string to string", "def main(input): return input + '!'", "in", "in!"},
		{"json", "def main(input): return json.encode(json.decode(input)['a'])", `{"a":[1,"x",null]}`, `[1,"x",null]`},
		{"sorted encoding", `def main(input): return json.encode({"b": 1, "a": 2})`, "", `{"a":2,"b":1}`},
		{"print is silent", "def main(input):\n  print('x')\n  return 'y'", "", "y"},
		{"no text", "def main(input): return input", "", ""},
		{"bytes pass", "def main(input): return input", "a\x00ü", "a\x00ü"},
	}
	for _, test := range tests {
		if got, err := Eval([]byte(test.source), test.input, MaxSteps); err != nil || got != test.want {
			t.Errorf("%s: %q, %v", test.name, got, err)
		}
	}
}

func TestEvalRefuses(t *testing.T) {
	failed := errors.New("any other failure")
	tests := []struct {
		name, source string
		want         error
	}{
		{"no main", "x = 1", errConvention},
		{"main is no function", "main = 1", errConvention},
		{"main is a builtin", "main = len", errConvention},
		{"main of two", "def main(a, b): return a", errConvention},
		{"main of any", "def main(*a): return ''", errConvention},
		{"main of keywords", "def main(a, *, b=1): return a", errConvention},
		{"returns a number", "def main(a): return 1", errConvention},
		{"returns nothing", "def main(a): pass", errConvention},
		{"syntax", "def main(a) return a", failed},
		{"unknown name", "def main(a): return open(a)", failed},
		{"load", "load('x.star', 'y')\ndef main(a): return y", failed},
		{"fails", "def main(a): fail('no')", failed},
		{"fails at load", "fail('no')\ndef main(a): return a", failed},
		{"recursion", "def main(a): return main(a)", failed},
		{"loop at the top", "x = [i for i in range(1 << 40)]\ndef main(a): return a", errSteps},
		{"loop in main", "def main(a):\n  for i in range(1 << 40): pass\n  return a", errSteps},
		{"large output", "def main(a): return 'x' * (5 << 20)", errOutput},
	}
	for _, test := range tests {
		got, err := Eval([]byte(test.source), "", 1_000_000)
		if err == nil || test.want != failed && !errors.Is(err, test.want) ||
			test.want == failed && (errors.Is(err, errConvention) || errors.Is(err, errSteps) || errors.Is(err, errOutput)) {
			t.Errorf("%s: %q, %v", test.name, got, err)
		}
	}
}

// TestEvalSteps: the end by steps does not depend on anything but program and input.
func TestEvalSteps(t *testing.T) {
	source := []byte("def main(a):\n  n = 0\n  for i in range(1000): n += 1\n  return str(n)")
	enough := uint64(0)
	for steps := uint64(1); enough == 0; steps++ {
		if _, err := Eval(source, "", steps); err == nil {
			enough = steps
		} else if !errors.Is(err, errSteps) {
			t.Fatal(err)
		}
	}
	for range 20 {
		if _, err := Eval(source, "", enough-1); !errors.Is(err, errSteps) {
			t.Fatalf("with a step less: %v", err)
		}
		if got, err := Eval(source, "", enough); err != nil || got != "1000" {
			t.Fatalf("%q, %v", got, err)
		}
	}
}

func TestServe(t *testing.T) {
	tests := []struct {
		name  string
		stdin []byte
		want  int
	}{
		{"done", capsule.EncodeRequest([]byte("def main(a): return a"), []byte("in")), capsule.ExitDone},
		{"convention", capsule.EncodeRequest([]byte("x = 1"), nil), capsule.ExitInvalid},
		{"failed", capsule.EncodeRequest([]byte("def main(a): fail(a)"), nil), capsule.ExitFailed},
		{"output", capsule.EncodeRequest([]byte("def main(a): return 'x' * (5 << 20)"), nil), capsule.ExitLimit},
		{"no request", nil, capsule.ExitRequest},
		{"trailing", append(capsule.EncodeRequest([]byte("def main(a): return a"), []byte("in")), 0), capsule.ExitRequest},
	}
	for _, test := range tests {
		var stdout, stderr bytes.Buffer
		if got := Serve(nil, bytes.NewReader(test.stdin), &stdout, &stderr); got != test.want {
			t.Errorf("%s: %d, %s", test.name, got, &stderr)
		}
		if done := test.want == capsule.ExitDone; done != (stdout.String() == "in") || done != (stderr.Len() == 0) {
			t.Errorf("%s: %q %q", test.name, &stdout, &stderr)
		}
	}
}

func FuzzEval(f *testing.F) {
	for _, source := range []string{"def main(a): return a", "def main(a): return json.decode(a)", "x = [", strings.Repeat("(", 1000)} {
		f.Add([]byte(source), `{"a":1}`)
	}
	f.Fuzz(func(t *testing.T, source []byte, input string) {
		first, err1 := Eval(source, input, 10_000)
		second, err2 := Eval(source, input, 10_000)
		if first != second || (err1 == nil) != (err2 == nil) {
			t.Fatalf("two runs differ: %q %v, %q %v", first, err1, second, err2)
		}
	})
}

// TestRehearsal: what a process that waits is tried with runs to its end.
func TestRehearsal(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := Serve(nil, bytes.NewReader(Rehearsal()), &stdout, &stderr); code != capsule.ExitDone || !strings.HasPrefix(stdout.String(), `{"request":{"path":"a b"}`) {
		t.Errorf("%d: %s %s", code, &stdout, &stderr)
	}
}
