package ssasmt

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// state is what a loop carries from turn to turn: its phis but for the counter,
// and the local variables that a turn writes.
type state struct {
	loop   *loop
	sort   string
	phis   []*ssa.Phi
	allocs []*ssa.Alloc
	fields []string // selectors, phis first
	outer  memory   // local variables at the first turn
}

// state declares the state's datatype.
func (x *executor) state(l *loop, before *region) (*state, error) {
	edges, _ := before.incoming(l.header)
	s := &state{loop: l, sort: x.out.Symbol + ".state", phis: l.phis, outer: before.mergeMemory(edges)}
	for _, b := range before.after(l.header).order([]*ssa.BasicBlock{l.body}) {
		for _, i := range b.Instrs {
			if store, ok := i.(*ssa.Store); ok {
				if a := root(store.Addr); a != nil && s.outer[a] != nil && !slices.Contains(s.allocs, a) {
					s.allocs = append(s.allocs, a)
				}
			}
		}
	}
	var fields []string
	declare := func(what string, t types.Type) string {
		sort, refused := x.tr.sorts.of(t)
		name := fmt.Sprintf("%s.%d.%s", s.sort, len(s.fields), what)
		s.fields = append(s.fields, name)
		fields = append(fields, fmt.Sprintf("(%s %s)", name, sort))
		return refused
	}
	for _, p := range s.phis {
		if refused := declare(p.Comment, p.Type()); refused != "" {
			return nil, x.refuse(p, refused)
		}
	}
	for _, a := range s.allocs {
		if refused := declare(a.Comment, a.Type().Underlying().(*types.Pointer).Elem()); refused != "" {
			return nil, x.refuse(a, refused)
		}
	}
	x.tr.sorts.decls = append(x.tr.sorts.decls, fmt.Sprintf("(declare-datatypes ((%s 0)) (((%s.make %s))))", s.sort, s.sort, strings.Join(fields, " ")))
	return s, nil
}

// root returns the local variable that an address lies in, or nil.
func root(address ssa.Value) *ssa.Alloc {
	switch a := address.(type) {
	case *ssa.Alloc:
		return a
	case *ssa.FieldAddr:
		return root(a.X)
	}
	return nil
}

// at returns the state with which a region reaches the header.
func (s *state) at(r *region) (*term, error) {
	r.at = s.loop.header.Instrs[0]
	edges, index := r.incoming(s.loop.header)
	if len(edges) == 0 { // every path leaves: there is no next turn
		return r.x.tr.terms.make("state"), nil
	}
	var fields []*term
	for _, p := range s.phis {
		value, err := r.phi(p, edges, index)
		if err != nil {
			return nil, err
		}
		fields = append(fields, value)
	}
	mem := r.mergeMemory(edges)
	for _, a := range s.allocs {
		fields = append(fields, mem[a])
	}
	return r.x.tr.terms.make(s.sort+".make", fields...), nil
}

// bind sets a region to the beginning of turn i, or of what follows turn i-1:
// the phis to the state's fields, the counter to what it is there.
func (s *state) bind(r *region) memory {
	t := r.x.tr.terms
	mem := memory{}
	for a, value := range s.outer {
		mem[a] = value
	}
	for n, field := range s.fields {
		value := t.make(field, t.make("state"))
		if n < len(s.phis) {
			r.values[s.phis[n]] = value
		} else {
			mem[s.allocs[n-len(s.phis)]] = value
		}
	}
	counter := t.make("i")
	if s.loop.index != ssa.Value(s.loop.count) {
		counter = t.make("bvsub", counter, r.x.tr.number(1))
	}
	r.values[s.loop.count] = counter
	return mem
}

// defineLoop writes the parts of a function with a loop (see Loop).
func (x *executor) defineLoop(l *loop) error {
	x.loop = l
	before := x.region(l.header)
	if err := before.run(x.fn.Blocks[0]); err != nil {
		return err
	}
	s, err := x.state(l, before)
	if err != nil {
		return err
	}
	first, err := s.at(before)
	if err != nil {
		return err
	}
	x.emit(".enters", nil, Bool, before.reaches())
	x.emit(".early", nil, x.out.Result, before.value())
	x.emit(".before", nil, s.sort, first)
	x.emit(".panics.before", nil, Bool, before.panics)
	if err := x.defineTurn(s, before); err != nil {
		return err
	}
	if err := x.defineAfter(s, before); err != nil {
		return err
	}

	// Callers see the whole function as opaque; that it does not panic is an
	// obligation of its own.
	var sorts []string
	for _, p := range x.out.Params {
		sorts = append(sorts, p.Sort)
	}
	x.out.Defs += fmt.Sprintf("(declare-fun %s (%s) %s)\n", x.out.Symbol, strings.Join(sorts, " "), x.out.Result)
	x.emit(".panics", nil, Bool, x.tr.terms.no)
	return nil
}

// defineTurn writes what one turn does.
func (x *executor) defineTurn(s *state, before *region) error {
	l, params := s.loop, []Param{{"i", Int}}
	turn := before.after(l.header)
	length, elem := "go.len", ""
	if slice, ok := l.over.Type().Underlying().(*types.Slice); ok {
		elem, _ = x.tr.sorts.of(slice.Elem())
		params = append(params, Param{"elem", elem})
		turn.elem, length = x.tr.terms.make("elem"), x.lists[l.over]
	}
	over := x.out.Params[slices.Index(x.fn.Params, l.over)]
	x.out.Loop = &Loop{Over: over, Elem: elem, State: s.sort, Length: fmt.Sprintf("(%s %s)", length, over.Symbol)}
	if err := turn.runFrom(l.header, 0, s.bind(turn)); err != nil {
		return err
	}
	next, err := s.at(turn)
	if err != nil {
		return err
	}
	params = append(params, Param{"state", s.sort})
	x.emit(".again", params, Bool, turn.reaches())
	x.emit(".turn", params, s.sort, next)
	x.emit(".exit", params, x.out.Result, turn.value())
	x.emit(".panics.turn", params, Bool, turn.panics)
	return nil
}

// defineAfter writes what happens when the loop has ended by its length.
func (x *executor) defineAfter(s *state, before *region) error {
	params := []Param{{"i", Int}, {"state", s.sort}}
	after := before.after(s.loop.header)
	if err := after.runFrom(s.loop.header, 1, s.bind(after)); err != nil {
		return err
	}
	x.emit(".after", params, x.out.Result, after.value())
	x.emit(".panics.after", params, Bool, after.panics)
	return nil
}
