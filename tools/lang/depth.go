package lang

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// maxDepth is how deep the parts of a Starlark program may lie within each other. The
// parser bounds what it descends into by itself, and goes along chains such as a+b+c,
// f()() and elif without end; resolver and compiler descend into those too, and the
// stack that they need is not theirs to bound.
const maxDepth = 10_000

// compile makes a program of a source.
func compile(file string, source []byte) (*starlark.Program, error) {
	parsed, err := Dialect.Parse(file, source, 0)
	if err != nil {
		return nil, err
	}
	if at := tooDeep(parsed); at != nil {
		return nil, syntax.Error{Pos: syntax.Start(at), Msg: fmt.Sprintf("nested too deep: more than %d parts within each other", maxDepth)}
	}
	return starlark.FileProgram(parsed, IsPredeclared)
}

// tooDeep returns a part of a program that lies too deep, nil for none.
func tooDeep(whole syntax.Node) syntax.Node {
	type part struct {
		node  syntax.Node
		depth int
	}
	for left := []part{{whole, 0}}; len(left) > 0; {
		p := left[len(left)-1]
		if left = left[:len(left)-1]; p.depth > maxDepth {
			return p.node
		}
		syntax.Walk(p.node, func(n syntax.Node) bool {
			if n != nil && n != p.node {
				left = append(left, part{n, p.depth + 1})
			}
			return n == p.node // so that it is done one level at a time
		})
	}
	return nil
}
