package ssasmt

import (
	"go/token"
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

// unary translates !, - and reading through a pointer.
func (r *region) unary(i *ssa.UnOp, mem memory) (*term, error) {
	if i.Op == token.MUL {
		p, err := r.place(i, i.X)
		if err != nil {
			return nil, err
		}
		return p.read(r.x, mem), nil
	}
	v, err := r.operand(i.X)
	if err != nil {
		return nil, err
	}
	switch i.Op {
	case token.NOT:
		return r.x.tr.terms.not(v), nil
	case token.SUB:
		return r.x.tr.terms.make("bvneg", v), nil
	}
	return nil, r.x.refuse(i, "operator "+i.Op.String())
}

// The SMT operators of Go's arithmetic and order, signed and unsigned.
var (
	arithmetic = map[token.Token]string{token.ADD: "bvadd", token.SUB: "bvsub", token.MUL: "bvmul"}
	signed     = map[token.Token]string{token.LSS: "bvslt", token.LEQ: "bvsle", token.GTR: "bvsgt", token.GEQ: "bvsge"}
	unsigned   = map[token.Token]string{token.LSS: "bvult", token.LEQ: "bvule", token.GTR: "bvugt", token.GEQ: "bvuge"}
)

// binary translates equality on every sort, and arithmetic and order on numbers.
func (r *region) binary(i *ssa.BinOp) (*term, error) {
	t := r.x.tr.terms
	a, err := r.operand(i.X)
	if err != nil {
		return nil, err
	}
	b, err := r.operand(i.Y)
	if err != nil {
		return nil, err
	}
	switch i.Op {
	case token.EQL:
		return t.make("=", a, b), nil
	case token.NEQ:
		return t.not(t.make("=", a, b)), nil
	}
	sort, _ := r.x.tr.sorts.of(i.X.Type())
	if sort == Int || sort == Byte {
		order := signed
		if sort == Byte {
			order = unsigned
		}
		if op := arithmetic[i.Op]; op != "" {
			return t.make(op, a, b), nil
		}
		if op := order[i.Op]; op != "" {
			return t.make(op, a, b), nil
		}
	}
	return nil, r.x.refuse(i, "operator "+i.Op.String()+" on "+i.X.Type().Underlying().String())
}

// byteAt translates s[i] of a text; an index out of range panics.
func (r *region) byteAt(i ssa.Instruction, of, at ssa.Value, cond *term) (*term, error) {
	if sort, _ := r.x.tr.sorts.of(of.Type()); sort != Text {
		return nil, r.x.refuse(i, "an index into "+of.Type().Underlying().String())
	}
	t := r.x.tr.terms
	text, err := r.operand(of)
	if err != nil {
		return nil, err
	}
	index, err := r.operand(at)
	if err != nil {
		return nil, err
	}
	if sort, _ := r.x.tr.sorts.of(at.Type()); sort == Byte {
		index = t.make("(_ zero_extend 56)", index)
	}
	within := t.and(t.make("bvsle", r.x.tr.number(0), index), t.make("bvslt", index, t.make("go.len", text)))
	r.panics = t.or(r.panics, t.and(cond, t.not(within)))
	return t.make("go.byte", text, index), nil
}

// convert translates conversions between named types of one sort, and between
// integers and bytes.
func (r *region) convert(i ssa.Instruction, from ssa.Value) (*term, error) {
	v, err := r.operand(from)
	if err != nil {
		return nil, err
	}
	source, _ := r.x.tr.sorts.of(from.Type())
	target, refused := r.x.tr.sorts.of(i.(ssa.Value).Type())
	switch {
	case refused != "":
		return nil, r.x.refuse(i, "conversion to "+refused)
	case source == target:
		return v, nil
	case source == Byte && target == Int:
		return r.x.tr.terms.make("(_ zero_extend 56)", v), nil
	case source == Int && target == Byte:
		return r.x.tr.terms.make("(_ extract 7 0)", v), nil
	}
	return nil, r.x.refuse(i, "this conversion")
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
