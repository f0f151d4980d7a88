package smtlib_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"world/fault"
	"world/spec/smtlib"
)

func TestParsePrintsBack(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"sat", "sat"},
		{"( a  b\n(c ) )", "(a b (c))"},
		{"()", "()"},
		{"; only a comment", ""},
		{"a ; comment\nb", "a b"},
		{"a;comment", "a"},
		{`"a ""quoted"" (one) ; not a comment"`, `"a ""quoted"" (one) ; not a comment"`},
		{"|a symbol; with (signs)|", "|a symbol; with (signs)|"},
		{"(! (not G) :named goal)", "(! (not G) :named goal)"},
		{"a(b)c", "a (b) c"},
		{"#x00ff #b01 -1", "#x00ff #b01 -1"},
	} {
		nodes, err := smtlib.Parse("text", []byte(row.text))
		if err != nil {
			t.Errorf("%q: %v", row.text, err)
			continue
		}
		var got []string
		for _, n := range nodes {
			got = append(got, n.String())
		}
		if joined := strings.Join(got, " "); joined != row.want {
			t.Errorf("%q reads as %q, want %q", row.text, joined, row.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, row := range []struct {
		name, text string
		kind       fault.Kind
		says       string
	}{
		{"an open list", "(a\n(b)", fault.Invalid, "f.smt2:1: a list that is not closed"},
		{"an open inner list", "(a\n(b", fault.Invalid, "f.smt2:2: a list that is not closed"},
		{"a close too many", "(a)\n)", fault.Invalid, "f.smt2:2: a closing parenthesis too many"},
		{"an open string", "x\n\n\"abc", fault.Invalid, "f.smt2:3: a literal that is not closed"},
		{"an open symbol", "|abc", fault.Invalid, "f.smt2:1: a literal that is not closed"},
		{"a control byte", "a\x00b", fault.Invalid, "f.smt2:1: a byte that SMT-LIB does not know"},
		{"a control byte first", "\x01", fault.Invalid, "f.smt2:1: a byte that SMT-LIB does not know"},
		{"a letter outside ASCII", "caf\u00e9", fault.Invalid, "f.smt2:1: a byte"},
		{"too deep", strings.Repeat("(", 1001), fault.Limit, "f.smt2:1: lists nested deeper than 1000"},
		{"too long", "\"" + strings.Repeat("a", 17<<20) + "\"", fault.Limit, "f.smt2:1: an expression of more than"},
	} {
		_, err := smtlib.Parse("f.smt2", []byte(row.text))
		if !fault.Is(err, row.kind) || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: got %v, want %v %q", row.name, err, row.kind, row.says)
		}
	}
	if _, err := smtlib.Parse("f.smt2", []byte(strings.Repeat("(", 1000)+strings.Repeat(")", 1000))); err != nil {
		t.Errorf("1000 deep is allowed: %v", err)
	}
}

func TestNodesKnowTheirLines(t *testing.T) {
	nodes, err := smtlib.Parse("f", []byte("a\n(b\n  c ; d\n\n \"x\ny\" e)\nf"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		n    smtlib.Node
		line int
	}{
		{nodes[0], 1}, {nodes[1], 2}, {nodes[1].List[0], 2}, {nodes[1].List[1], 3},
		{nodes[1].List[2], 5}, {nodes[1].List[3], 6}, {nodes[2], 7},
	} {
		if row.n.Line != row.line {
			t.Errorf("%s is on line %d, want %d", row.n, row.n.Line, row.line)
		}
	}
}

// A pipe gives bytes as they come; the reader must not wait for more than one
// byte beyond an answer.
func TestReaderReadsByteByByte(t *testing.T) {
	r := smtlib.NewReader("pipe", iotest.OneByteReader(strings.NewReader("sat\n((x 1))\n\"done\"\n")))
	for _, want := range []string{"sat", "((x 1))", `"done"`} {
		n, err := r.Read()
		if err != nil || n.String() != want {
			t.Fatalf("got %s, %v, want %s", n, err, want)
		}
	}
	if _, err := r.Read(); err != io.EOF {
		t.Fatalf("got %v, want EOF", err)
	}
}

func TestReaderPassesErrorsOn(t *testing.T) {
	broken := errors.New("broken pipe")
	for _, text := range []string{"", "(a ", "\"a", "a"} {
		r := smtlib.NewReader("pipe", io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)))
		if _, err := r.Read(); !errors.Is(err, broken) {
			t.Errorf("after %q: got %v, want the pipe's error", text, err)
		}
	}
}

func TestNodeQuestions(t *testing.T) {
	nodes, err := smtlib.Parse("f", []byte(`(error "say ""no""") () atom ((a))`))
	if err != nil {
		t.Fatal(err)
	}
	if got := nodes[0].Head(); got != "error" {
		t.Errorf("head %q", got)
	}
	if got := nodes[0].List[1].Text(); got != `say "no"` {
		t.Errorf("text %q", got)
	}
	if !nodes[1].IsList() || nodes[1].Head() != "" {
		t.Error("() is a list without head")
	}
	if nodes[2].IsList() || !nodes[2].Is("atom") || nodes[2].Text() != "atom" {
		t.Error("an atom is itself")
	}
	if nodes[3].Head() != "" {
		t.Error("a list that begins with a list has no head")
	}
}

func TestQuoteIsInjectiveASCII(t *testing.T) {
	seen := map[string]string{}
	texts := []string{"", "a", `"`, `""`, `\`, `\u{41}`, "A", "\x00", "\n", "\xff", "\u00e9", "e\u0301", "a b", "~", "\x7f"}
	for _, text := range texts {
		q := smtlib.Quote(text)
		if other, ok := seen[q]; ok {
			t.Errorf("%q and %q are both %s", text, other, q)
		}
		seen[q] = text
		nodes, err := smtlib.Parse("q", []byte(q))
		if err != nil || len(nodes) != 1 || nodes[0].Atom != q {
			t.Errorf("%q quotes as %s, which reads as %v, %v", text, q, nodes, err)
		}
	}
	if got := smtlib.Quote("plain text"); got != `"plain text"` {
		t.Errorf("got %s", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"(assert (! (not a) :named goal))", "\"a\"\"b\"", "|x|", "; c\n(a)", "((((", ")", "\x00"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		nodes, err := smtlib.Parse("f", text)
		if err != nil {
			if !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.Limit) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		var printed strings.Builder
		for _, n := range nodes {
			printed.WriteString(n.String() + "\n")
		}
		again, err := smtlib.Parse("f", []byte(printed.String()))
		if err != nil || len(again) != len(nodes) {
			t.Fatalf("%q prints as %q, which does not read back: %v", text, printed.String(), err)
		}
		for i := range nodes {
			if nodes[i].String() != again[i].String() {
				t.Fatalf("%s reads back as %s", nodes[i], again[i])
			}
		}
	})
}
