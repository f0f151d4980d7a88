package ssasmt

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// refuse names the place of an instruction; one without a position of its own
// takes that of the nearest instruction before it.
func (x *executor) refuse(i ssa.Instruction, what string) *Refusal {
	pos := x.fn.Pos()
	for _, other := range i.Block().Instrs {
		if other.Pos().IsValid() {
			pos = other.Pos()
		}
		if other == i {
			break
		}
	}
	return x.tr.refuse(pos, what)
}

// operand returns the term of a value that is not a pointer.
func (r *region) operand(v ssa.Value) (*term, error) {
	x := r.x
	if c, ok := v.(*ssa.Const); ok {
		if _, refused := x.tr.sorts.of(c.Type()); refused != "" {
			return nil, x.refuse(r.at, refused)
		}
		return x.tr.constant(c.Type(), c.Value), nil
	}
	if t := x.params[v]; t != nil {
		return t, nil
	}
	if t := r.values[v]; t != nil {
		return t, nil
	}
	what := "value " + types.TypeString(v.Type(), types.RelativeTo(x.tr.checked.Types))
	if _, ok := v.Type().Underlying().(*types.Pointer); ok {
		what = "a pointer that is not read at once"
	}
	return nil, x.refuse(r.at, what)
}

// instruction executes one instruction that is neither a phi nor a terminator.
func (r *region) instruction(instruction ssa.Instruction, cond *term, mem memory) error {
	x := r.x
	var value *term
	var err error
	switch i := instruction.(type) {
	case *ssa.Alloc:
		elem := i.Type().Underlying().(*types.Pointer).Elem()
		if _, refused := x.tr.sorts.of(elem); refused != "" {
			return x.refuse(i, refused)
		}
		mem[i] = x.tr.zero(elem)
		return nil
	case *ssa.Store:
		return r.store(i, mem)
	case *ssa.FieldAddr:
		_, err := r.place(i, i)
		return err
	case *ssa.IndexAddr:
		_, err := r.place(i, i)
		return err
	case *ssa.MakeInterface:
		for _, use := range *i.Referrers() {
			if _, ok := use.(*ssa.Panic); !ok {
				return x.refuse(i, "an interface")
			}
		}
		return nil
	case *ssa.UnOp:
		value, err = r.unary(i, mem)
	case *ssa.BinOp:
		value, err = r.binary(i)
	case *ssa.Field:
		if value, err = r.operand(i.X); err == nil {
			value = x.field(value, i.X.Type(), i.Field)
		}
	case *ssa.Index:
		value, err = r.byteAt(i, i.X, i.Index, cond)
	case *ssa.Lookup:
		value, err = r.byteAt(i, i.X, i.Index, cond)
	case *ssa.ChangeType:
		value, err = r.convert(i, i.X)
	case *ssa.Convert:
		value, err = r.convert(i, i.X)
	case *ssa.Call:
		value, err = r.call(i, cond)
	default:
		return x.refuse(instruction, "instruction "+instruction.String())
	}
	if err != nil {
		return err
	}
	if v, ok := instruction.(ssa.Value); ok {
		r.values[v] = value
	}
	return nil
}

// call translates len and calls of functions of the package, by value.
func (r *region) call(i *ssa.Call, cond *term) (*term, error) {
	x, t := r.x, r.x.tr.terms
	var args []*term
	for _, a := range i.Call.Args {
		v, err := r.operand(a)
		if err != nil {
			return nil, err
		}
		args = append(args, v)
	}
	if b, ok := i.Call.Value.(*ssa.Builtin); ok {
		if b.Name() != "len" {
			return nil, x.refuse(i, "builtin "+b.Name())
		}
		if length := x.lists[i.Call.Args[0]]; length != "" {
			return t.make(length, args[0]), nil
		}
		return t.make("go.len", args[0]), nil
	}
	callee := i.Call.StaticCallee()
	if callee == nil || callee.Pkg != x.fn.Pkg || !x.tr.wanted[callee] {
		return nil, x.refuse(i, "a call of "+i.Call.Value.String())
	}
	f, err := x.tr.function(callee)
	if err != nil {
		return nil, err
	}
	x.calls(f.Name)
	r.panics = t.or(r.panics, t.and(cond, t.make(f.Symbol+".panics", args...)))
	return t.make(f.Symbol, args...), nil
}

// calls notes a callee.
func (x *executor) calls(name string) {
	for _, known := range x.out.Callees {
		if known == name {
			return
		}
	}
	x.out.Callees = append(x.out.Callees, name)
}
