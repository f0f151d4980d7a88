package ssasmt

import (
	"golang.org/x/tools/go/ssa"
)

// incoming lists the edges into b that the region takes, in the order of
// b.Preds, and the index of each in it.
func (r *region) incoming(b *ssa.BasicBlock) (edges []edge, index []int) {
	seen := map[*ssa.BasicBlock]int{}
	for k, p := range b.Preds {
		nth := seen[p]
		seen[p]++
		for which, s := range p.Succs {
			if s != b {
				continue
			}
			if nth > 0 {
				nth--
				continue
			}
			if e := (edge{p, which}); r.edges[e] != nil {
				edges, index = append(edges, e), append(index, k)
			}
			break
		}
	}
	return edges, index
}

// conditions returns the conditions of edges.
func (r *region) conditions(edges []edge) []*term {
	var conds []*term
	for _, e := range edges {
		conds = append(conds, r.edges[e])
	}
	return conds
}

// join returns the condition of reaching b and the memory there.
func (r *region) join(b *ssa.BasicBlock) (*term, memory) {
	edges, _ := r.incoming(b)
	return r.x.tr.terms.any(r.conditions(edges)), r.mergeMemory(edges)
}

// mergeMemory joins the memories at the given edges. A variable that one edge
// does not know is not yet born there, and cannot be read after the join.
func (r *region) mergeMemory(edges []edge) memory {
	merged := memory{}
	conds := r.x.tr.terms.relative(r.conditions(edges))
	for n, e := range edges {
		for alloc, value := range r.mem[e.from] {
			if old := merged[alloc]; old != nil {
				value = r.x.tr.terms.ite(conds[n], value, old)
			}
			merged[alloc] = value
		}
	}
	return merged
}

// phi joins the value of a phi over the given edges.
func (r *region) phi(phi *ssa.Phi, edges []edge, index []int) (*term, error) {
	var joined *term
	conds := r.x.tr.terms.relative(r.conditions(edges))
	for n := range edges {
		value, err := r.operand(phi.Edges[index[n]])
		if err != nil {
			return nil, err
		}
		if joined != nil {
			value = r.x.tr.terms.ite(conds[n], value, joined)
		}
		joined = value
	}
	return joined, nil
}
