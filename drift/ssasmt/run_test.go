package ssasmt_test

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"world/drift/ssasmt"
	"world/fault"
	"world/spec/smtlib"
)

// machineValue reads an SMT term of the sample back as a machine's value.
func machineValue(t *testing.T, term string) any {
	t.Helper()
	if list, ok := strings.CutPrefix(term, "["); ok {
		out := []any{}
		if list = strings.TrimSuffix(list, "]"); list != "" {
			for _, e := range strings.Split(list, ";") {
				out = append(out, machineValue(t, e))
			}
		}
		return out
	}
	nodes, err := smtlib.Parse("a term", []byte(term))
	if err != nil || len(nodes) != 1 {
		t.Fatalf("%s: %v", term, err)
	}
	return nodeValue(t, nodes[0])
}

func nodeValue(t *testing.T, n smtlib.Node) any {
	t.Helper()
	switch {
	case n.IsList():
		out := []any{}
		for _, f := range n.List[1:] {
			out = append(out, nodeValue(t, f))
		}
		return out
	case n.Is("true") || n.Is("false"):
		return n.Is("true")
	case n.Atom[0] == '"':
		var out []byte
		for _, digits := range strings.Split(n.Text(), `\u{`)[1:] {
			b, err := strconv.ParseUint(strings.TrimSuffix(digits, "}"), 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, byte(b))
		}
		return string(out)
	}
	v, err := strconv.ParseUint(n.Atom[2:], 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	if len(n.Atom) == 4 {
		return uint8(v)
	}
	return int64(v)
}

func TestMachineAnswersAsExecution(t *testing.T) {
	s := runSample(t, 5, true, 40, 40, 30)
	checked, err := ssasmt.FromText("sample", map[string][]byte{"sample.go": []byte(s.text)}).Check()
	if err != nil {
		t.Fatal(err)
	}
	machine := checked.Machine(100_000)
	panics := 0
	for _, c := range s.cases {
		var args []any
		for _, a := range c.args {
			args = append(args, machineValue(t, a))
		}
		got, err := machine.Call(c.f.Name, args...)
		if err != nil {
			t.Fatalf("%s(%s): %v", c.f.Name, strings.Join(c.args, ", "), err)
		}
		want := any(ssasmt.Panicked{})
		if c.answer != "panic" {
			want = machineValue(t, c.answer)
		} else {
			panics++
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s(%s): running gives %v, the machine %v", c.f.Name, strings.Join(c.args, ", "), want, got)
		}
	}
	if panics == 0 || panics == len(s.cases) {
		t.Errorf("%d of %d cases panic: the sample shows little", panics, len(s.cases))
	}
}

func machineOf(t *testing.T, text string) *ssasmt.Machine {
	t.Helper()
	checked, err := ssasmt.FromText("law", map[string][]byte{"law.go": []byte("package law\n" + text)}).Check()
	if err != nil {
		t.Fatal(err)
	}
	return checked.Machine(1000)
}

func TestMachineEnds(t *testing.T) {
	m := machineOf(t, "func F(n int) int {\n\tfor n > 0 {\n\t\tn++\n\t\tn--\n\t}\n\treturn n\n}")
	if got, err := m.Call("F", int64(0)); err != nil || got != int64(0) {
		t.Errorf("F(0) = %v, %v", got, err)
	}
	if _, err := m.Call("F", int64(1)); !fault.Is(err, fault.Limit) {
		t.Errorf("F(1), which does not end: %v, want limit", err)
	}
}

func TestMachineRefuses(t *testing.T) {
	m := machineOf(t, "func F(a, b int64) int64 { return a / b }\nfunc G(l []int) int {\n\tl[0] = 7\n\treturn l[0]\n}")
	if _, err := m.Call("F", int64(1), int64(1)); !fault.Is(err, fault.Unsupported) {
		t.Errorf("division: %v, want unsupported", err)
	}
	if _, err := m.Call("H"); !fault.Is(err, fault.NotFound) {
		t.Errorf("an absent function: %v, want not found", err)
	}
	if got, err := m.Call("G", []any{}); err != nil || got != any(ssasmt.Panicked{}) {
		t.Errorf("an index out of range: %v, %v, want a panic", got, err)
	}
	if got, err := m.Call("G", []any{int64(3)}); err != nil || got != int64(7) {
		t.Errorf("a store into a list: %v, %v", got, err)
	}
}

func TestValueOf(t *testing.T) {
	type pair struct {
		N int
		S string
	}
	got := ssasmt.ValueOf([]pair{{1, "a"}})
	if want := any([]any{[]any{int64(1), "a"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
