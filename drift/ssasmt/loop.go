package ssasmt

import (
	"go/ast"
	"go/constant"
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// loop is the one loop of a function, checked to visit index 0, 1, … below the
// length of a parameter, each once and in order.
type loop struct {
	header *ssa.BasicBlock
	body   *ssa.BasicBlock // where the header goes while index < length
	exit   *ssa.BasicBlock
	over   *ssa.Parameter
	length *ssa.Call // len(over)
	index  ssa.Value // the index of the current turn
	count  *ssa.Phi  // the header's own counter: index, or index - 1 before it is raised
	phis   []*ssa.Phi
}

// findLoop returns the function's loop, nil if it has none.
func (x *executor) findLoop() (*loop, error) {
	header := (*ssa.BasicBlock)(nil)
	const unseen, open, done = 0, 1, 2
	mark := make([]int, len(x.fn.Blocks))
	var second *ssa.BasicBlock
	var visit func(*ssa.BasicBlock)
	visit = func(b *ssa.BasicBlock) {
		mark[b.Index] = open
		for _, s := range b.Succs {
			switch {
			case mark[s.Index] == unseen:
				visit(s)
			case mark[s.Index] == open && header != nil && header != s:
				second = s
			case mark[s.Index] == open:
				header = s
			}
		}
		mark[b.Index] = done
	}
	visit(x.fn.Blocks[0])
	if header == nil {
		return nil, nil
	}
	if second != nil {
		return nil, x.refuseLoop(second, "a second loop")
	}
	return x.loopShape(header)
}

// loopShape checks the loop of the header.
func (x *executor) loopShape(header *ssa.BasicBlock) (*loop, error) {
	refuse := func(what string) (*loop, error) {
		return nil, x.refuseLoop(header, what)
	}
	branch, ok := header.Instrs[len(header.Instrs)-1].(*ssa.If)
	if !ok {
		return refuse("a loop that does not test its index first")
	}
	test, ok := branch.Cond.(*ssa.BinOp)
	// The index goes from 0 up by one and a length is not negative, so the index
	// never passes the length, and != says the same as <.
	if !ok || test.Op != token.LSS && test.Op != token.NEQ || test.Block() != header {
		return refuse("a loop whose test is not index < length")
	}
	l := &loop{header: header, body: header.Succs[0], exit: header.Succs[1], index: test.X}
	if l.length, ok = test.Y.(*ssa.Call); !ok {
		return refuse("a loop whose test is not index < length")
	}
	if b, ok := l.length.Call.Value.(*ssa.Builtin); !ok || b.Name() != "len" {
		return refuse("a loop whose test is not index < length")
	}
	if l.over, ok = l.length.Call.Args[0].(*ssa.Parameter); !ok {
		return refuse("a loop over what is not a parameter")
	}
	for _, i := range header.Instrs {
		if phi, ok := i.(*ssa.Phi); ok && !l.counts(phi) {
			l.phis = append(l.phis, phi)
		}
	}
	if l.count == nil {
		return refuse("a loop whose index does not go up by one from zero")
	}
	return l, nil
}

// refuseLoop names the place of the loop statement whose header this is.
func (x *executor) refuseLoop(header *ssa.BasicBlock, what string) *Refusal {
	inside := x.fn.Pos()
	for _, b := range append([]*ssa.BasicBlock{header}, header.Succs...) {
		for _, i := range b.Instrs {
			// A phi has the position of its variable, which may be outside.
			if _, phi := i.(*ssa.Phi); !phi && inside == x.fn.Pos() && i.Pos().IsValid() {
				inside = i.Pos()
			}
		}
	}
	found := x.fn.Pos()
	ast.Inspect(x.fn.Syntax(), func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if n.Pos() <= inside && inside < n.End() {
				found = n.Pos() // the innermost is visited last
			}
		}
		return true
	})
	return x.tr.refuse(found, what)
}

// counts reports whether phi is the loop's counter, and notes it: it starts so
// that the index is 0 at the first turn, and goes up by one each turn.
func (l *loop) counts(phi *ssa.Phi) bool {
	var start ssa.Value
	raised := map[ssa.Value]bool{}
	for k, e := range phi.Edges {
		if l.header.Dominates(l.header.Preds[k]) {
			raised[e] = true
		} else if start == nil {
			start = e
		} else {
			return false
		}
	}
	c, ok := start.(*ssa.Const)
	if !ok || c.Value == nil || c.Value.Kind() != constant.Int || len(raised) != 1 || l.count != nil {
		return false
	}
	for e := range raised {
		add, ok := e.(*ssa.BinOp)
		if !ok || add.Op != token.ADD || add.X != phi {
			return false
		}
		one, ok := add.Y.(*ssa.Const)
		if !ok || one.Value == nil || one.Int64() != 1 {
			return false
		}
		first := c.Int64() == 0 && l.index == ssa.Value(phi)
		rangeForm := c.Int64() == -1 && l.index == ssa.Value(add) && add.Block() == l.header
		if !first && !rangeForm {
			return false
		}
	}
	l.count = phi
	return true
}
