package spec

import (
	"path"
	"slices"
	"strings"

	"world/fault"
	"world/spec/smtlib"
)

// Theorem is one file of spec/z3/theorems: a header of comments, declarations,
// hypotheses (! F :named N), and last the negated goal (! (not G) :named goal).
type Theorem struct {
	ID        string // the name of its file
	Claim     string // one sentence of English
	RestsOn   []string
	Encodings []Encoding
	CarriedBy []string // theorems in 64 bits that carry it there, when it is proved in integers only
	File      string   // such as "spec/z3/theorems/debit.smt2"

	Constants  []string // declared without arguments, for counterexamples
	Hypotheses []Hypothesis

	declared []smtlib.Node
	negated  Hypothesis // the goal's negation, named goal
}

// Hypothesis is one named assumption.
type Hypothesis struct {
	Name, Formula string
	line          int
}

// In reports whether the theorem is stated in an encoding.
func (t Theorem) In(e Encoding) bool { return slices.Contains(t.Encodings, e) }

// Twin returns the declarations with the hypotheses and without the goal: the
// script that must be satisfiable, or the theorem says nothing.
func (t Theorem) Twin() Chunk { return t.chunk(t.declared, t.Hypotheses, false) }

// Goal returns what to assert after Twin, so that unsat proves the theorem.
func (t Theorem) Goal() Chunk { return t.chunk(nil, []Hypothesis{t.negated}, false) }

// Named returns the whole theorem with its names, for a core of hypotheses.
func (t Theorem) Named() Chunk {
	return t.chunk(t.declared, append(slices.Clone(t.Hypotheses), t.negated), true)
}

// chunk prints every form on the line where the file has it, so that a solver's
// complaint about a line is about the file's.
func (t Theorem) chunk(declared []smtlib.Node, assumed []Hypothesis, names bool) Chunk {
	var out strings.Builder
	line := 1
	put := func(at int, form string) {
		for ; line < at; line++ {
			out.WriteByte('\n')
		}
		out.WriteString(form + " ")
	}
	for _, n := range declared {
		put(n.Line, n.String())
	}
	for _, h := range assumed {
		if names {
			put(h.line, "(assert (! "+h.Formula+" :named "+h.Name+"))")
		} else {
			put(h.line, "(assert "+h.Formula+")")
		}
	}
	return Chunk{t.File, out.String() + "\n"}
}

// WithTheorem returns a book that has one more theorem, from a file laid out like
// those of spec/z3/theorems and resting on this book's.
func (b *Book) WithTheorem(chunk Chunk) (*Book, error) {
	nodes, err := smtlib.Parse(chunk.File, []byte(chunk.Text))
	if err != nil {
		return nil, err
	}
	t, err := readTheorem(chunk.File, chunk.Text, nodes)
	if err != nil {
		return nil, err
	}
	if _, ok := b.Theorem(t.ID); ok {
		return nil, t.bad(1, "there is a theorem %s already", t.ID)
	}
	c := b.clone()
	c.Theorems = append(slices.Clone(b.Theorems), t)
	return c, c.check()
}

func readTheorem(file, text string, nodes []smtlib.Node) (Theorem, error) {
	t := Theorem{File: file, ID: strings.TrimSuffix(path.Base(file), ".smt2")}
	if err := t.readHeader(text); err != nil {
		return t, err
	}
	return t, t.readBody(nodes)
}

func (t *Theorem) readHeader(text string) error {
	seen := map[string]bool{}
	for i, line := range strings.Split(text, "\n") {
		rest, comment := strings.CutPrefix(line, "; ")
		key, value, ok := strings.Cut(rest, ": ")
		if !comment || !ok {
			break
		}
		if value = strings.TrimSpace(value); value == "" || seen[key] {
			return t.bad(i+1, "the header says %q twice or says nothing", key)
		}
		seen[key] = true
		switch key {
		case "theorem":
			if value != t.ID {
				return t.bad(i+1, "the header names the theorem %q, the file %q", value, t.ID)
			}
		case "claim":
			t.Claim = value
		case "rests on":
			t.RestsOn = strings.Fields(value)
		case "carried by":
			t.CarriedBy = strings.Fields(value)
		case "encodings":
			for _, e := range strings.Fields(value) {
				if e := Encoding(e); (e == Int || e == BV64) && !t.In(e) {
					t.Encodings = append(t.Encodings, e)
					continue
				}
				return t.bad(i+1, "unknown or repeated encoding %q", e)
			}
		default:
			return t.bad(i+1, "the header has an unknown line %q", key)
		}
	}
	for _, key := range []string{"theorem", "claim", "rests on", "encodings"} {
		if !seen[key] {
			return t.bad(1, "the header has no line %q", key)
		}
	}
	if integersOnly := !t.In(BV64); integersOnly != (len(t.CarriedBy) > 0) {
		return t.bad(1, "carried by: needed if and only if 64 bits are not among the encodings")
	}
	return nil
}

func (t *Theorem) readBody(nodes []smtlib.Node) error {
	for i, n := range nodes {
		switch head := n.Head(); head {
		case "declare-const", "declare-fun", "declare-sort", "define-fun", "define-sort":
			if len(t.Hypotheses) > 0 {
				return t.bad(n.Line, "%s after a hypothesis", head)
			}
			t.declared = append(t.declared, n)
			if head == "declare-const" && len(n.List) == 3 {
				t.Constants = append(t.Constants, n.List[1].Atom)
			}
		case "assert":
			if len(n.List) != 2 || n.List[1].Head() != "!" || len(n.List[1].List) != 4 || !n.List[1].List[2].Is(":named") {
				return t.bad(n.Line, "an assertion that is not (assert (! formula :named name))")
			}
			h := Hypothesis{n.List[1].List[3].Atom, n.List[1].List[1].String(), n.Line}
			if slices.ContainsFunc(t.Hypotheses, func(o Hypothesis) bool { return o.Name == h.Name }) {
				return t.bad(n.Line, "a second hypothesis named %s", h.Name)
			}
			if last := i == len(nodes)-1; last != (h.Name == "goal") {
				return t.bad(n.Line, "the last assertion, and no other, is named goal")
			}
			if h.Name != "goal" {
				t.Hypotheses = append(t.Hypotheses, h)
				continue
			}
			if n.List[1].List[1].Head() != "not" {
				return t.bad(n.Line, "the goal is not negated")
			}
			t.negated = h
		default:
			return t.bad(n.Line, "a theorem declares, defines and asserts; it does not %q", head)
		}
	}
	if t.negated.Formula == "" {
		return t.bad(1, "no goal")
	}
	return nil
}

func (t *Theorem) bad(line int, format string, args ...any) error {
	e := fault.New("spec: load", fault.Invalid, format, args...)
	return fault.New("spec: load", fault.Invalid, "%s:%d: %s", t.File, line, e.Detail)
}
