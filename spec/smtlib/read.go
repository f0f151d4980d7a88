package smtlib

import (
	"bufio"
	"bytes"
	"io"

	"world/fault"
)

const (
	maxDepth = 1000     // nested lists
	maxBytes = 16 << 20 // of one expression
)

// Reader reads expressions one by one. After an error it is spent.
type Reader struct {
	name string
	in   *bufio.Reader
	line int
	size int // bytes of the expression being read
}

// NewReader reads from in; name is what errors call it.
func NewReader(name string, in io.Reader) *Reader {
	return &Reader{name: name, in: bufio.NewReaderSize(in, 64<<10), line: 1}
}

// Parse reads a whole text. Errors are fault.Invalid or fault.Limit and begin
// with name and line.
func Parse(name string, text []byte) ([]Node, error) {
	r := NewReader(name, bytes.NewReader(text))
	var out []Node
	for {
		n, err := r.Read()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
}

// Read returns the next expression, or io.EOF when there is none. An input that
// ends within an expression is fault.Invalid.
func (r *Reader) Read() (Node, error) {
	r.size = 0
	return r.node(0)
}

func (r *Reader) node(depth int) (Node, error) {
	c, err := r.skip()
	if err != nil {
		return Node{}, err
	}
	at := r.line
	switch {
	case c == ')':
		return Node{}, r.bad(at, "a closing parenthesis too many")
	case c == '(':
		return r.list(at, depth+1)
	case c == '"' || c == '|':
		return r.quoted(at, c)
	}
	return r.word(at, c)
}

func (r *Reader) list(at, depth int) (Node, error) {
	if depth > maxDepth {
		return Node{}, fault.New("smtlib: read", fault.Limit, "%s:%d: lists nested deeper than %d", r.name, at, maxDepth)
	}
	n := Node{List: []Node{}, Line: at}
	for {
		c, err := r.skip()
		if err == nil && c == ')' {
			return n, nil
		}
		if err == nil {
			err = r.in.UnreadByte()
			r.size--
		}
		var m Node
		if err == nil {
			m, err = r.node(depth)
		}
		if err == io.EOF {
			return Node{}, r.bad(at, "a list that is not closed")
		}
		if err != nil {
			return Node{}, err
		}
		n.List = append(n.List, m)
	}
}

// quoted reads a string literal, in which a doubled quote stands for one, or a
// quoted symbol.
func (r *Reader) quoted(at int, quote byte) (Node, error) {
	out := []byte{quote}
	for {
		c, err := r.next()
		if err == io.EOF {
			return Node{}, r.bad(at, "a literal that is not closed")
		}
		if err != nil {
			return Node{}, err
		}
		out = append(out, c)
		if c != quote {
			continue
		}
		if after, err := r.in.Peek(1); quote == '"' && err == nil && after[0] == '"' {
			r.in.Discard(1)
			out = append(out, '"')
			continue
		}
		return Node{Atom: string(out), Line: at}, nil
	}
}

func (r *Reader) word(at int, first byte) (Node, error) {
	out := []byte{first}
	if first < ' ' || first > '~' {
		return Node{}, r.bad(at, "a byte that SMT-LIB does not know")
	}
	for {
		c, err := r.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return Node{}, err
		}
		if space(c) || c == '(' || c == ')' || c == ';' || c == '"' || c == '|' {
			r.in.UnreadByte()
			r.size--
			if c == '\n' {
				r.line--
			}
			break
		}
		if c < ' ' || c > '~' {
			return Node{}, r.bad(at, "a byte that SMT-LIB does not know")
		}
		out = append(out, c)
	}
	return Node{Atom: string(out), Line: at}, nil
}

// skip returns the first byte after white space and comments.
func (r *Reader) skip() (byte, error) {
	for {
		c, err := r.next()
		if err != nil {
			return 0, err
		}
		if c == ';' {
			for c != '\n' {
				if c, err = r.next(); err != nil {
					return 0, err
				}
			}
		}
		if !space(c) {
			return c, nil
		}
	}
}

func (r *Reader) next() (byte, error) {
	c, err := r.in.ReadByte()
	if err != nil {
		return 0, err
	}
	if c == '\n' {
		r.line++
	}
	if r.size++; r.size > maxBytes {
		return 0, fault.New("smtlib: read", fault.Limit, "%s:%d: an expression of more than %d bytes", r.name, r.line, maxBytes)
	}
	return c, nil
}

func (r *Reader) bad(line int, what string) error {
	return fault.New("smtlib: read", fault.Invalid, "%s:%d: %s", r.name, line, what)
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
