// Package smtlib reads SMT-LIB 2 text as s-expressions with their lines.
//
// It promises that what it accepts is balanced, bounded text, and that printing
// a node and reading it again gives the same node. It knows no command and no
// theory: whether the text means anything is for a solver to say.
package smtlib

import "strings"

// Node is an atom or a list of nodes.
type Node struct {
	Atom string // as written, quotes included; "" for a list
	List []Node
	Line int // where it begins, from 1
}

// IsList reports whether the node is a list, which may be empty.
func (n Node) IsList() bool { return n.Atom == "" }

// Is reports whether the node is this atom.
func (n Node) Is(atom string) bool { return n.Atom == atom }

// Head returns the first atom of a list, or "".
func (n Node) Head() string {
	if len(n.List) == 0 {
		return ""
	}
	return n.List[0].Atom
}

// Text returns what a string literal stands for: without its quotes, and with
// doubled quotes single. Other atoms are returned as written.
func (n Node) Text() string {
	if len(n.Atom) < 2 || n.Atom[0] != '"' {
		return n.Atom
	}
	return strings.ReplaceAll(n.Atom[1:len(n.Atom)-1], `""`, `"`)
}

// String prints the node on one line.
func (n Node) String() string {
	var out strings.Builder
	n.write(&out)
	return out.String()
}

func (n Node) write(out *strings.Builder) {
	if !n.IsList() {
		out.WriteString(n.Atom)
		return
	}
	out.WriteByte('(')
	for i, m := range n.List {
		if i > 0 {
			out.WriteByte(' ')
		}
		m.write(out)
	}
	out.WriteByte(')')
}

// Quote returns s as a string literal, printable ASCII as it is and every other
// byte as the code point of its value, so that the literal is a string of bytes.
func Quote(s string) string {
	const hex = "0123456789abcdef"
	out := make([]byte, 0, len(s)+2)
	out = append(out, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"':
			out = append(out, '"', '"')
		case c < ' ' || c > '~' || c == '\\':
			out = append(out, '\\', 'u', '{', hex[c>>4], hex[c&15], '}')
		default:
			out = append(out, c)
		}
	}
	return string(append(out, '"'))
}
