package validate

import (
	"strings"

	"world/spec"
	"world/spec/smtlib"
)

// text is a chunk cut into the pieces that can be left out of a script and those
// between them. z3 unfolds definitions as it reads them, and takes longer for the
// bridge of one function than for most proofs about another.
type text struct {
	file   string
	pieces []piece
}

// piece is some whole lines of a text.
type piece struct {
	text  string
	names []string // that its definitions define; empty if it holds anything else
	uses  []string // every other word in it
}

// cut cuts a chunk where a line begins something new.
func cut(c spec.Chunk) (text, error) {
	nodes, err := smtlib.Parse(c.File, []byte(c.Text))
	if err != nil {
		return text{}, err
	}
	lines := strings.SplitAfter(c.Text, "\n")
	t := text{file: c.File}
	var p piece
	definitions, taken := true, 0
	for i, n := range nodes {
		if n.Head() == "define-fun" && len(n.List) == 5 {
			p.names = append(p.names, n.List[1].Atom)
		} else {
			definitions = false
		}
		p.uses = words(p.uses, n)
		end := len(lines)
		if i+1 < len(nodes) {
			end = nodes[i+1].Line - 1
		}
		p.text = strings.Join(lines[taken:end], "")
		if whole, err := smtlib.Parse(c.File, []byte(p.text)); err != nil || len(whole) == 0 {
			continue // the next one begins on a line of this one
		}
		if !definitions {
			p.names = nil
		}
		t.pieces = append(t.pieces, p)
		p, definitions, taken = piece{}, true, end
	}
	return t, nil
}

// words appends the atoms of a node.
func words(to []string, n smtlib.Node) []string {
	if !n.IsList() {
		return append(to, n.Atom)
	}
	for _, inner := range n.List {
		to = words(to, inner)
	}
	return to
}

// needed returns the texts as chunks, without the definitions that neither the
// question nor anything else in them comes to. Lines keep their numbers.
func needed(texts []text, question ...string) ([]spec.Chunk, error) {
	wanted := map[string]bool{}
	var open []string
	want := func(names []string) {
		for _, name := range names {
			if !wanted[name] {
				wanted[name] = true
				open = append(open, name)
			}
		}
	}
	for _, q := range question {
		nodes, err := smtlib.Parse("the question", []byte(q))
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			want(words(nil, n))
		}
	}
	defined := map[string]piece{}
	for _, t := range texts {
		for _, p := range t.pieces {
			for _, name := range p.names {
				defined[name] = p
			}
			if len(p.names) == 0 {
				want(p.uses)
			}
		}
	}
	for len(open) > 0 {
		last := open[len(open)-1]
		open = open[:len(open)-1]
		want(defined[last].uses)
	}
	var out []spec.Chunk
	for _, t := range texts {
		var kept strings.Builder
		for _, p := range t.pieces {
			if p.wanted(wanted) {
				kept.WriteString(p.text)
			} else {
				kept.WriteString(strings.Repeat("\n", strings.Count(p.text, "\n")))
			}
		}
		out = append(out, spec.Chunk{File: t.file, Text: kept.String()})
	}
	return out, nil
}

func (p piece) wanted(names map[string]bool) bool {
	for _, name := range p.names {
		if names[name] {
			return true
		}
	}
	return len(p.names) == 0
}
