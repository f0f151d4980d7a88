package ssasmt

import (
	"go/token"

	"golang.org/x/tools/go/ssa"
)

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
