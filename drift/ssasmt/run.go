package ssasmt

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"world/fault"
)

// frame is one call being run.
type frame struct {
	values map[ssa.Value]any
	budget *int
}

// pointer is a place that can be read and written.
type pointer struct {
	load  func() any
	store func(any)
}

func run(fn *ssa.Function, args []any, budget *int) any {
	f := frame{map[ssa.Value]any{}, budget}
	for i, p := range fn.Params {
		f.values[p] = args[i]
	}
	var from *ssa.BasicBlock
	for at := fn.Blocks[0]; ; {
		phis := map[ssa.Value]any{} // all read before any is written
		next := -1
		for _, instruction := range at.Instrs {
			if *budget--; *budget < 0 {
				panic(fault.New("ssasmt: run", fault.Limit, "%s does not end", fn.Name()))
			}
			switch i := instruction.(type) {
			case *ssa.Phi:
				phis[i] = f.get(i.Edges[slices.Index(at.Preds, from)])
				continue
			case *ssa.Jump:
				next = 0
			case *ssa.If:
				commit(f.values, phis)
				if next = 1; f.get(i.Cond).(bool) {
					next = 0
				}
			case *ssa.Return:
				commit(f.values, phis)
				return f.get(i.Results[0])
			case *ssa.Panic:
				panic(Panicked{})
			default:
				commit(f.values, phis)
				f.execute(i)
			}
		}
		commit(f.values, phis)
		from, at = at, at.Succs[next]
	}
}

func commit(values, phis map[ssa.Value]any) {
	for k, v := range phis {
		values[k] = v
		delete(phis, k)
	}
}

func (f frame) get(v ssa.Value) any {
	if c, ok := v.(*ssa.Const); ok {
		return constantOf(c)
	}
	return f.values[v]
}

func outside(what string) *fault.Error {
	return fault.New("ssasmt: run", fault.Unsupported, "%s is outside the subset", what)
}

// execute runs one instruction that is neither a phi nor a terminator.
func (f frame) execute(instruction ssa.Instruction) {
	switch i := instruction.(type) {
	case *ssa.Alloc:
		content := zeroOf(i.Type().Underlying().(*types.Pointer).Elem())
		f.values[i] = pointer{func() any { return content }, func(v any) { content = v }}
	case *ssa.Store:
		f.get(i.Addr).(pointer).store(f.get(i.Val))
	case *ssa.FieldAddr:
		base := f.get(i.X).(pointer)
		f.values[i] = pointer{
			func() any { return base.load().([]any)[i.Field] },
			func(v any) {
				fields := slices.Clone(base.load().([]any)) // a struct is a value
				fields[i.Field] = v
				base.store(fields)
			},
		}
	case *ssa.IndexAddr:
		list, at := f.get(i.X).([]any), f.get(i.Index).(int64)
		if at < 0 || at >= int64(len(list)) {
			panic(Panicked{})
		}
		f.values[i] = pointer{func() any { return list[at] }, func(v any) { list[at] = v }}
	case *ssa.UnOp:
		f.values[i] = f.unary(i)
	case *ssa.BinOp:
		f.values[i] = binaryOf(i.Op, f.get(i.X), f.get(i.Y))
	case *ssa.Field:
		f.values[i] = f.get(i.X).([]any)[i.Field]
	case *ssa.Index:
		f.values[i] = byteOf(f.get(i.X), f.get(i.Index))
	case *ssa.Lookup:
		f.values[i] = byteOf(f.get(i.X), f.get(i.Index))
	case *ssa.ChangeType:
		f.values[i] = f.get(i.X)
	case *ssa.Convert:
		f.values[i] = convertTo(zeroOf(i.Type()), f.get(i.X))
	case *ssa.Call:
		f.values[i] = f.call(i)
	case *ssa.MakeInterface: // what a panic says does not matter
	default:
		panic(outside(instruction.String()))
	}
}

func (f frame) unary(i *ssa.UnOp) any {
	v := f.get(i.X)
	switch i.Op {
	case token.MUL:
		if p, ok := v.(pointer); ok {
			return p.load()
		}
	case token.NOT:
		return !v.(bool)
	case token.SUB:
		if b, ok := v.(uint8); ok {
			return -b
		}
		return -v.(int64)
	}
	panic(outside(i.String()))
}

func (f frame) call(i *ssa.Call) any {
	var args []any
	for _, a := range i.Call.Args {
		args = append(args, f.get(a))
	}
	if b, ok := i.Call.Value.(*ssa.Builtin); ok && b.Name() == "len" {
		if s, ok := args[0].(string); ok {
			return int64(len(s))
		}
		return int64(len(args[0].([]any)))
	}
	callee := i.Call.StaticCallee()
	if callee == nil || len(callee.Blocks) == 0 || strings.HasPrefix(callee.Name(), "init") {
		panic(outside(i.String()))
	}
	return run(callee, args, f.budget)
}
