package ssasmt

import (
	"maps"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// region is a part of a function without cycles, executed symbolically: every
// path at once, joined by conditions.
type region struct {
	x      *executor
	stop   *ssa.BasicBlock // entering it ends a path; nil for none
	elem   *term           // the element of the current turn of a loop over a list
	values map[ssa.Value]*term
	mem    map[*ssa.BasicBlock]memory // at each block's end
	edges  map[edge]*term             // condition under which an edge is taken

	at      ssa.Instruction // being executed
	returns []guarded
	panics  *term
	reached []edge // edges into stop
}

// memory holds the content of local variables that are not SSA registers.
type memory map[*ssa.Alloc]*term

// edge is the which-th successor edge of a block.
type edge struct {
	from  *ssa.BasicBlock
	which int
}

// guarded is a value and the condition under which it is the one.
type guarded struct {
	cond, value *term
}

func (x *executor) region(stop *ssa.BasicBlock) *region {
	return &region{
		x: x, stop: stop, values: map[ssa.Value]*term{}, panics: x.tr.terms.no,
		mem: map[*ssa.BasicBlock]memory{}, edges: map[edge]*term{},
	}
}

// after returns a region that continues from what r has computed.
func (r *region) after(stop *ssa.BasicBlock) *region {
	next := r.x.region(stop)
	maps.Copy(next.values, r.values)
	return next
}

// run executes all blocks that start can reach without passing stop.
func (r *region) run(start *ssa.BasicBlock) error {
	return r.blocks(start, start.Succs, memory{})
}

// runFrom executes the loop header, whose phis are bound already, and then what
// it reaches by its successor edge of that number.
func (r *region) runFrom(header *ssa.BasicBlock, which int, mem memory) error {
	return r.blocks(header, header.Succs[which:which+1], mem)
}

func (r *region) blocks(start *ssa.BasicBlock, follow []*ssa.BasicBlock, mem memory) error {
	order := append(r.order(follow), start)
	slices.Reverse(order)
	for _, b := range order {
		cond, entry := r.x.tr.terms.yes, mem
		if b != start {
			cond, entry = r.join(b)
		}
		if err := r.block(b, cond, entry); err != nil {
			return err
		}
		if b == start && len(follow) < len(b.Succs) {
			r.force(b, follow[0])
		}
	}
	return nil
}

// force makes start's branch a jump to the one successor.
func (r *region) force(start, to *ssa.BasicBlock) {
	for which, s := range start.Succs {
		if s == to {
			r.edges[edge{start, which}] = r.x.tr.terms.yes
		} else {
			delete(r.edges, edge{start, which})
		}
	}
}

// order lists the blocks that the given ones reach, each before its predecessors.
func (r *region) order(from []*ssa.BasicBlock) []*ssa.BasicBlock {
	var post []*ssa.BasicBlock
	seen := map[*ssa.BasicBlock]bool{}
	var visit func(*ssa.BasicBlock)
	visit = func(b *ssa.BasicBlock) {
		if seen[b] || b == r.stop {
			return
		}
		seen[b] = true
		for _, s := range b.Succs {
			visit(s)
		}
		post = append(post, b)
	}
	for _, b := range from {
		visit(b)
	}
	return post
}

// block executes b, reached under cond, and its terminator.
func (r *region) block(b *ssa.BasicBlock, cond *term, mem memory) error {
	t := r.x.tr.terms
	r.mem[b] = mem
	edges, index := r.incoming(b)
	for _, instruction := range b.Instrs {
		r.at = instruction
		switch i := instruction.(type) {
		case *ssa.Phi:
			if b == r.stop { // a loop header: its phis are bound already
				continue
			}
			value, err := r.phi(i, edges, index)
			if err != nil {
				return err
			}
			r.values[i] = value
		case *ssa.Jump:
			r.take(edge{b, 0}, cond)
		case *ssa.If:
			c, err := r.operand(i.Cond)
			if err != nil {
				return err
			}
			r.take(edge{b, 0}, t.and(cond, c))
			r.take(edge{b, 1}, t.and(cond, t.not(c)))
		case *ssa.Return:
			value, err := r.operand(i.Results[0])
			if err != nil {
				return err
			}
			r.returns = append(r.returns, guarded{cond, value})
		case *ssa.Panic:
			r.panics = t.or(r.panics, cond)
		default:
			if err := r.instruction(instruction, cond, mem); err != nil {
				return err
			}
		}
	}
	return nil
}

// take records an edge and the condition of taking it.
func (r *region) take(e edge, cond *term) {
	r.edges[e] = cond
	if e.from.Succs[e.which] == r.stop {
		r.reached = append(r.reached, e)
	}
}

// value returns the value returned; where no path returns it is arbitrary.
func (r *region) value() *term {
	if len(r.returns) == 0 {
		return r.x.tr.zero(r.x.fn.Signature.Results().At(0).Type())
	}
	joined := r.returns[len(r.returns)-1].value
	for i := len(r.returns) - 2; i >= 0; i-- {
		joined = r.x.tr.terms.ite(r.returns[i].cond, r.returns[i].value, joined)
	}
	return joined
}

// reaches returns the condition under which the region reaches stop.
func (r *region) reaches() *term { return r.x.tr.terms.any(r.conditions(r.reached)) }
