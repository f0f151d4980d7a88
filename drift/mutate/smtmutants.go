package mutate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"world/spec"
	"world/spec/smtlib"
)

// SMTMutant is a model with one small change in the body of one definition.
type SMTMutant struct {
	Mutant
	Model   string      // below spec/z3
	Defined smtlib.Node // the changed definition
}

// classes are the symbols of the theories that may stand for each other.
var classes = [][]string{
	{"and", "or"}, {"=", "distinct"}, {"<", "<=", ">", ">=", "="}, {"+", "-"}, {"true", "false"},
	{"bvule", "bvult", "bvuge", "bvugt"}, {"le", "lt"}, {"add", "sub"}, {"zero", "one", "maxint"},
}

// swappable are the symbols whose two arguments are not interchangeable.
var swappable = []string{"le", "lt", "sub", "<", "<=", ">", ">=", "-", "=>", "bvule", "bvult"}

// SMT returns the mutants of a model: every symbol replaced by every other of the
// same sorts in its file, of its parameters or of its class; every operand of and
// and or dropped; every negation dropped; branches and operands swapped. What the
// solver does not accept is left out when they are tried.
func SMT(book *spec.Book, model string) ([]SMTMutant, error) {
	chunk, ok := book.File(model)
	if !ok {
		panic("mutate: no model " + model)
	}
	nodes, err := smtlib.Parse(chunk.File, []byte(chunk.Text))
	if err != nil {
		return nil, err
	}
	m := &smtMutator{signatures: signatures(nodes), model: model, file: chunk.File, nodes: nodes, seen: map[string]bool{}}
	for i, n := range nodes {
		if n.Head() == "define-fun" && len(n.List) == 5 {
			m.define(i)
		}
	}
	return m.out, nil
}

// signatures groups the symbols that a file declares by their sorts.
func signatures(nodes []smtlib.Node) map[string][]string {
	out := map[string][]string{}
	add := func(name string, args []string, result string) {
		key := strings.Join(args, " ") + " -> " + result
		out[key] = append(out[key], name)
	}
	for _, n := range nodes {
		switch {
		case n.Head() == "declare-datatypes" && len(n.List) == 3:
			for i, named := range n.List[1].List {
				sort := named.List[0].Atom
				for _, c := range n.List[2].List[i].List {
					var args []string
					for _, f := range c.List[1:] {
						args = append(args, f.List[1].String())
						add(f.List[0].Atom, []string{sort}, f.List[1].String())
					}
					add(c.List[0].Atom, args, sort)
				}
			}
		case n.Head() == "define-fun" && len(n.List) == 5:
			var args []string
			for _, p := range n.List[2].List {
				args = append(args, p.List[1].String())
			}
			add(n.List[1].Atom, args, n.List[3].String())
		}
	}
	return out
}

type smtMutator struct {
	signatures map[string][]string
	model      string
	file       string
	nodes      []smtlib.Node
	seen       map[string]bool
	out        []SMTMutant

	at     int // index of the definition
	params map[string][]string
}

func (m *smtMutator) define(i int) {
	n := m.nodes[i]
	m.at, m.params = i, map[string][]string{}
	for _, p := range n.List[2].List {
		sort := p.List[1].String()
		m.params[sort] = append(m.params[sort], p.List[0].Atom)
	}
	m.walk(n.List[4], func(body smtlib.Node) smtlib.Node { return body })
}

// add makes a mutant whose body is the whole with the given part in place.
func (m *smtMutator) add(line int, what string, body smtlib.Node) {
	n := m.nodes[m.at]
	changed := smtlib.Node{List: slices.Clone(n.List), Line: n.Line}
	changed.List[4] = body
	if text := changed.String(); text == n.String() || m.seen[text] {
		return
	} else {
		m.seen[text] = true
	}
	var out strings.Builder
	for j, other := range m.nodes {
		if j == m.at {
			other = changed
		}
		out.WriteString(other.String() + "\n")
	}
	m.out = append(m.out, SMTMutant{
		Mutant: Mutant{Name: n.List[1].Atom, File: m.file, Line: line, What: what, Text: []byte(out.String())},
		Model:  m.model, Defined: changed,
	})
}

// walk makes the mutants of a node; put returns the body with the node replaced.
func (m *smtMutator) walk(n smtlib.Node, put func(smtlib.Node) smtlib.Node) {
	if !n.IsList() {
		for _, other := range m.others(n.Atom) {
			m.add(n.Line, n.Atom+" becomes "+other, put(smtlib.Node{Atom: other, Line: n.Line}))
		}
		return
	}
	if n.Head() == "_" { // an indexed symbol or a sort
		return
	}
	args := n.List
	switch head := n.Head(); {
	case head == "let" && len(n.List) == 3:
		m.let(n, put)
		return
	case head == "not" && len(args) == 2:
		m.add(n.Line, "not is dropped", put(args[1]))
	case (head == "and" || head == "or") && len(args) > 2:
		for k := 1; k < len(args); k++ {
			m.add(args[k].Line, args[k].String()+" is dropped", put(smtlib.Node{List: slices.Delete(slices.Clone(args), k, k+1), Line: n.Line}))
		}
	case head == "ite" && len(args) == 4:
		m.add(n.Line, "the branches of ite change places", put(smtlib.Node{List: []smtlib.Node{args[0], args[1], args[3], args[2]}, Line: n.Line}))
	case slices.Contains(swappable, head) && len(args) == 3:
		m.add(n.Line, "the operands of "+head+" change places", put(smtlib.Node{List: []smtlib.Node{args[0], args[2], args[1]}, Line: n.Line}))
	}
	for k := range args {
		m.walk(args[k], func(part smtlib.Node) smtlib.Node {
			list := slices.Clone(args)
			list[k] = part
			return put(smtlib.Node{List: list, Line: n.Line})
		})
	}
}

// let walks the values bound and the body, not the names.
func (m *smtMutator) let(n smtlib.Node, put func(smtlib.Node) smtlib.Node) {
	for k, b := range n.List[1].List {
		m.walk(b.List[1], func(part smtlib.Node) smtlib.Node {
			bindings := slices.Clone(n.List[1].List)
			bindings[k] = smtlib.Node{List: []smtlib.Node{b.List[0], part}, Line: b.Line}
			return put(smtlib.Node{List: []smtlib.Node{n.List[0], {List: bindings, Line: n.Line}, n.List[2]}, Line: n.Line})
		})
	}
	m.walk(n.List[2], func(part smtlib.Node) smtlib.Node {
		return put(smtlib.Node{List: []smtlib.Node{n.List[0], n.List[1], part}, Line: n.Line})
	})
}

// others lists what may stand for an atom.
func (m *smtMutator) others(atom string) []string {
	var out []string
	add := func(names []string) {
		if slices.Contains(names, atom) {
			for _, n := range names {
				if n != atom && !slices.Contains(out, n) {
					out = append(out, n)
				}
			}
		}
	}
	for _, names := range m.signatures {
		add(names)
	}
	for _, names := range m.params {
		add(names)
	}
	for _, names := range classes {
		add(names)
	}
	slices.Sort(out)
	if n, err := strconv.Atoi(atom); err == nil {
		out = append(out, fmt.Sprint(n+1))
		if n > 0 {
			out = append(out, fmt.Sprint(n-1))
		}
	}
	switch {
	case strings.HasPrefix(atom, `"`):
		out = append(out, smtlib.Quote(strings.Trim(atom, `"`)+"x"))
	case strings.HasPrefix(atom, "#x"):
		if n, err := strconv.ParseUint(atom[2:], 16, 64); err == nil {
			width := len(atom) - 2
			out = append(out, fmt.Sprintf("#x%0*x", width, n+1), fmt.Sprintf("#x%0*x", width, n-1))
		}
	}
	return out
}
