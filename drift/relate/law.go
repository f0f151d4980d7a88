package relate

import (
	"slices"
	"strings"

	"world/fault"
	"world/spec"
	"world/spec/smtlib"
)

// Law is a decision law.
type Law struct {
	Book  *spec.Book // with the law in the place of spec/z3/decision.smt2
	file  string
	nodes []smtlib.Node
}

const decision = "decision"

// Base returns the decision law of a book.
func Base(book *spec.Book) (Law, error) {
	chunk, ok := book.File(decision)
	if !ok {
		return Law{}, fault.New("law", fault.Invalid, "spec/z3/decision.smt2 is missing")
	}
	return parse(book, chunk)
}

// Read returns the law in a file, which must define every function that the
// book's own law needs defined, with the same sorts, over the same datatypes, and
// do nothing else. Errors are one line: file, line and what is wrong.
func Read(book *spec.Book, chunk spec.Chunk) (Law, error) {
	base, err := Base(book)
	if err != nil {
		return Law{}, err
	}
	l, err := parse(book, chunk)
	if err != nil {
		return Law{}, err
	}
	if err := l.sameData(base); err != nil {
		return Law{}, err
	}
	if err := l.sameFunctions(base); err != nil {
		return Law{}, err
	}
	l.Book, err = book.WithFile(decision, chunk)
	return l, err
}

func parse(book *spec.Book, chunk spec.Chunk) (Law, error) {
	nodes, err := smtlib.Parse(chunk.File, []byte(chunk.Text))
	if err != nil {
		return Law{}, err
	}
	l := Law{book, chunk.File, nodes}
	for _, n := range nodes {
		switch {
		case n.Head() == "declare-datatypes" && len(n.List) == 3:
		case n.Head() == "define-fun" && len(n.List) == 5:
		default:
			return Law{}, l.bad(n.Line, "a law holds declare-datatypes and define-fun and nothing else")
		}
	}
	return l, nil
}

func (l Law) bad(line int, format string, args ...any) error {
	e := fault.New("law", fault.Invalid, format, args...)
	return fault.New("law", fault.Invalid, "%s:%d: %s", l.file, line, e.Detail)
}

// functions returns the definitions by name.
func (l Law) functions() map[string]smtlib.Node {
	out := map[string]smtlib.Node{}
	for _, n := range l.nodes {
		if n.Head() == "define-fun" {
			out[n.List[1].Atom] = n
		}
	}
	return out
}

func (l Law) datatypes() []smtlib.Node {
	return slices.DeleteFunc(slices.Clone(l.nodes), func(n smtlib.Node) bool { return n.Head() != "declare-datatypes" })
}

func (l Law) sameData(base Law) error {
	wants := base.datatypes()
	for _, n := range l.datatypes() {
		i := slices.IndexFunc(wants, func(w smtlib.Node) bool { return w.String() == n.String() })
		if i < 0 {
			return l.bad(n.Line, "a datatype that is not one of %s's, or is there twice", base.file)
		}
		wants = slices.Delete(wants, i, i+1)
	}
	if len(wants) > 0 {
		return l.bad(1, "the datatypes %s of %s are missing", wants[0].List[1], base.file)
	}
	return nil
}

// interfaces are what everything else calls by name; the rest of a law is its own.
var interfaces = []string{"judge", "remaining", "debit", "nobody", "single", "consider", "ask", "visible", "label"}

func (l Law) sameFunctions(base Law) error {
	mine, theirs := l.functions(), base.functions()
	for _, name := range interfaces {
		want, ok := theirs[name]
		if !ok {
			return base.bad(1, "the law defines no %s", name)
		}
		got, ok := mine[name]
		if !ok {
			return l.bad(l.firstUse(name), "the law defines no %s", name)
		}
		if signature(got) != signature(want) {
			return l.bad(got.Line, "%s is from %s, and must be from %s", name, signature(got), signature(want))
		}
	}
	return nil
}

// signature is the sorts that a definition takes and gives.
func signature(n smtlib.Node) string {
	var sorts []string
	for _, p := range n.List[2].List {
		if len(p.List) == 2 {
			sorts = append(sorts, p.List[1].String())
		}
	}
	return "(" + strings.Join(sorts, " ") + ") to " + n.List[3].String()
}

// firstUse is the line on which a name is used first, 1 if it is not.
func (l Law) firstUse(name string) int {
	var find func(n smtlib.Node) int
	find = func(n smtlib.Node) int {
		if n.Is(name) {
			return n.Line
		}
		for _, m := range n.List {
			if at := find(m); at > 0 {
				return at
			}
		}
		return 0
	}
	for _, n := range l.nodes {
		if at := find(n); at > 0 {
			return at
		}
	}
	return 1
}

// named is the law's functions with a prefix before the name of each, every form
// on the line where the file has it, so that two laws fit one script.
func (l Law) named(prefix string) spec.Chunk {
	own := l.functions()
	var rename func(n smtlib.Node) smtlib.Node
	rename = func(n smtlib.Node) smtlib.Node {
		if _, ok := own[n.Atom]; ok {
			n.Atom = prefix + n.Atom
		}
		list := make([]smtlib.Node, len(n.List))
		for i, m := range n.List {
			list[i] = rename(m)
		}
		n.List = list
		return n
	}
	var out strings.Builder
	line := 1
	for _, n := range l.nodes {
		if n.Head() != "define-fun" {
			continue
		}
		for ; line < n.Line; line++ {
			out.WriteByte('\n')
		}
		out.WriteString(rename(n).String() + " ")
	}
	return spec.Chunk{File: l.file, Text: out.String() + "\n"}
}

// alone is what a solver reads to complain about the law in its own words.
func (l Law) alone() []spec.Chunk { return l.Book.Script(spec.BV64, spec.String, decision) }

// pair is a script with both laws, the names of one after "a." and of the other
// after "b.".
func pair(a, b Law) []spec.Chunk {
	var data strings.Builder
	for _, n := range a.datatypes() {
		data.WriteString(n.String() + "\n")
	}
	return append(a.Book.Script(spec.BV64, spec.String),
		spec.Chunk{File: "the datatypes", Text: data.String()}, a.named("a."), b.named("b."))
}
