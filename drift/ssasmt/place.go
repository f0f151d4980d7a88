package ssasmt

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// place is where a pointer points: into a local variable, or into the list
// element of the current turn of the loop.
type place struct {
	alloc *ssa.Alloc // nil for the element
	elem  *term
	path  []step // fields from the outside in
}

// step is one field selection.
type step struct {
	of    types.Type
	field int
}

// place resolves a pointer. Pointers exist only to be read and stored through:
// whatever else makes one is refused, so no two names reach one variable.
func (r *region) place(at ssa.Instruction, pointer ssa.Value) (place, error) {
	x := r.x
	switch p := pointer.(type) {
	case *ssa.Alloc:
		return place{alloc: p}, nil
	case *ssa.FieldAddr:
		base, err := r.place(p, p.X)
		if err != nil {
			return place{}, err
		}
		of := p.X.Type().Underlying().(*types.Pointer).Elem()
		base.path = append(base.path[:len(base.path):len(base.path)], step{of, p.Field})
		return base, nil
	case *ssa.IndexAddr:
		if x.lists[p.X] == "" {
			return place{}, x.refuse(p, "an index into "+p.X.Type().Underlying().String())
		}
		if x.loop == nil || p.X != x.loop.over || p.Index != x.loop.index || r.elem == nil {
			return place{}, x.refuse(p, "an element other than that of the current turn of the loop")
		}
		return place{elem: r.elem}, nil
	case *ssa.Global:
		return place{}, x.refuse(at, "global variable "+p.Name())
	}
	return place{}, x.refuse(at, "a pointer other than to a local variable or the current element")
}

// read returns the content of the place.
func (p place) read(x *executor, mem memory) *term {
	content := p.elem
	if p.alloc != nil {
		content = mem[p.alloc]
	}
	for _, s := range p.path {
		content = x.field(content, s.of, s.field)
	}
	return content
}

// store writes through a pointer to a local variable.
func (r *region) store(i *ssa.Store, mem memory) error {
	p, err := r.place(i, i.Addr)
	if err != nil {
		return err
	}
	if p.alloc == nil {
		return r.x.refuse(i, "a store into a list")
	}
	value, err := r.operand(i.Val)
	if err != nil {
		return err
	}
	mem[p.alloc] = r.x.update(mem[p.alloc], p.path, value)
	return nil
}

// field selects one field of a struct, of a constructor directly.
func (x *executor) field(of *term, t types.Type, n int) *term {
	sort, _ := x.tr.sorts.of(t)
	if of.head == sort+".make" {
		return of.args[n]
	}
	return x.tr.terms.make(sort+"."+t.Underlying().(*types.Struct).Field(n).Name(), of)
}

// update returns a struct with the value at the path replaced.
func (x *executor) update(of *term, path []step, value *term) *term {
	if len(path) == 0 {
		return value
	}
	s := path[0]
	sort, _ := x.tr.sorts.of(s.of)
	fields := make([]*term, s.of.Underlying().(*types.Struct).NumFields())
	for n := range fields {
		fields[n] = x.field(of, s.of, n)
	}
	fields[s.field] = x.update(fields[s.field], path[1:], value)
	return x.tr.terms.make(sort+".make", fields...)
}
