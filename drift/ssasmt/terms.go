package ssasmt

import (
	"fmt"
	"slices"
	"strings"
)

// term is a node of a shared expression graph: equal terms are one node, so
// that a value used twice is written once.
type term struct {
	head string
	args []*term
}

// terms makes nodes and simplifies the Boolean ones, so that the text stays
// close to what a person would write.
type terms struct {
	nodes map[string]*term
	ids   map[*term]int
	yes   *term
	no    *term
}

func newTerms() *terms {
	t := &terms{nodes: map[string]*term{}, ids: map[*term]int{}}
	t.yes, t.no = t.make("true"), t.make("false")
	return t
}

// make returns the node of head applied to args; an atom has no args.
func (t *terms) make(head string, args ...*term) *term {
	var key strings.Builder
	key.WriteString(head)
	for _, a := range args {
		fmt.Fprintf(&key, " %d", t.ids[a])
	}
	if n := t.nodes[key.String()]; n != nil {
		return n
	}
	n := &term{head: head, args: args}
	t.nodes[key.String()] = n
	t.ids[n] = len(t.ids)
	return n
}

func (t *terms) not(a *term) *term {
	switch {
	case a == t.yes:
		return t.no
	case a == t.no:
		return t.yes
	case a.head == "not":
		return a.args[0]
	}
	return t.make("not", a)
}

func (t *terms) and(a, b *term) *term {
	switch {
	case a == t.no || b == t.no:
		return t.no
	case a == t.yes || a == b:
		return b
	case b == t.yes:
		return a
	}
	return t.make("and", a, b)
}

// or joins two conditions. What both begin with is written once, and a
// condition and its opposite cancel: conditions of paths that meet again would
// otherwise double at every join.
func (t *terms) or(a, b *term) *term {
	as, bs := conjuncts(a), conjuncts(b)
	n := common(as, bs)
	as, bs = as[n:], bs[n:]
	rest := t.yes
	if len(as) > 0 && len(bs) > 0 {
		if as[0] == t.not(bs[0]) { // (x and y) or not x is y or not x
			switch {
			case len(bs) == 1:
				as = as[1:]
			case len(as) == 1:
				bs = bs[1:]
			}
		}
		x, y := t.all(as), t.all(bs)
		switch {
		case x == t.yes || y == t.yes || x == t.not(y):
		case x == t.no:
			rest = y
		case y == t.no || x == y:
			rest = x
		default:
			rest = t.make("or", x, y)
		}
	}
	return t.and(t.all(conjuncts(a)[:n]), rest)
}

// any joins conditions, those first that have most in common.
func (t *terms) any(conds []*term) *term {
	conds = slices.Clone(conds)
	for len(conds) > 1 {
		x, y, most := 0, 1, -1
		for i := range conds {
			for j := range i {
				if n := common(conjuncts(conds[i]), conjuncts(conds[j])); n > most {
					x, y, most = j, i, n
				}
			}
		}
		conds[x] = t.or(conds[x], conds[y])
		conds = slices.Delete(conds, y, y+1)
	}
	if len(conds) == 0 {
		return t.no
	}
	return conds[0]
}

// relative drops what all conditions begin with.
func (t *terms) relative(conds []*term) []*term {
	if len(conds) == 0 {
		return nil
	}
	prefix := conjuncts(conds[0])
	for _, c := range conds[1:] {
		prefix = prefix[:common(prefix, conjuncts(c))]
	}
	short := make([]*term, len(conds))
	for i, c := range conds {
		short[i] = t.all(conjuncts(c)[len(prefix):])
	}
	return short
}

// conjuncts lists what a condition joins by and, outermost first.
func conjuncts(a *term) []*term {
	if a.head != "and" {
		return []*term{a}
	}
	return append(conjuncts(a.args[0]), a.args[1])
}

// common counts the conditions that both lists begin with.
func common(as, bs []*term) int {
	n := 0
	for n < len(as) && n < len(bs) && as[n] == bs[n] {
		n++
	}
	return n
}

func (t *terms) all(conds []*term) *term {
	joined := t.yes
	for _, c := range conds {
		joined = t.and(joined, c)
	}
	return joined
}

func (t *terms) ite(cond, then, els *term) *term {
	switch {
	case cond == t.yes || then == els:
		return then
	case cond == t.no:
		return els
	case then == t.yes && els == t.no:
		return cond
	case then == t.no && els == t.yes:
		return t.not(cond)
	}
	return t.make("ite", cond, then, els)
}

// render writes the term, binding each node that is used more than once by let.
func (t *terms) render(root *term) string {
	uses := map[*term]int{}
	var order []*term // children first
	var visit func(*term)
	visit = func(n *term) {
		uses[n]++
		if uses[n] > 1 {
			return
		}
		for _, a := range n.args {
			visit(a)
		}
		order = append(order, n)
	}
	visit(root)

	names := map[*term]string{}
	var text func(n *term, top bool) string
	text = func(n *term, top bool) string {
		if name := names[n]; name != "" && !top {
			return name
		}
		if len(n.args) == 0 {
			return n.head
		}
		parts := []string{n.head}
		for _, a := range n.args {
			parts = append(parts, text(a, false))
		}
		return "(" + strings.Join(parts, " ") + ")"
	}
	var out strings.Builder
	depth := 0
	for _, n := range order {
		if uses[n] > 1 && len(n.args) > 0 {
			value := text(n, true)
			names[n] = fmt.Sprintf("$%d", depth)
			fmt.Fprintf(&out, "(let ((%s %s))\n  ", names[n], value)
			depth++
		}
	}
	out.WriteString(text(root, false))
	out.WriteString(strings.Repeat(")", depth))
	return out.String()
}
