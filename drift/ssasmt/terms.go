package ssasmt

import (
	"fmt"
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
