package ssasmt

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"world/fault"
)

// Machine runs functions of a package on concrete input, without compiling it:
// hundreds of variants of one package would be as many binaries. It follows the
// same SSA as the translation does, but any loop, and is held to the compiled
// functions by the same random sample.
//
// Its values are int64 for int and int64, uint8, bool, string, and []any for
// structs (their fields) and for slices (their elements).
type Machine struct {
	functions map[string]*ssa.Function
	limit     int // instructions of one call
}

// Panicked is the result of a function that panics.
type Panicked struct{}

// Machine returns a machine for the package. A call that takes more than limit
// instructions ends with fault.Limit.
func (c *Checked) Machine(limit int) *Machine {
	m := &Machine{functions: map[string]*ssa.Function{}, limit: limit}
	built := c.SSA()
	for _, member := range built.Members {
		switch member := member.(type) {
		case *ssa.Function:
			m.functions[member.Name()] = member
		case *ssa.Type:
			named, ok := member.Type().(*types.Named)
			if !ok {
				continue
			}
			for i := range named.NumMethods() {
				if fn := built.Prog.FuncValue(named.Method(i)); fn != nil {
					m.functions[member.Name()+"."+fn.Name()] = fn
				}
			}
		}
	}
	return m
}

// ValueOf turns a Go value of the subset's types into the machine's.
func ValueOf(of any) any { return fromGo(reflect.ValueOf(of)) }

func fromGo(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		return v.Int()
	case reflect.Uint8:
		return uint8(v.Uint())
	case reflect.Bool:
		return v.Bool()
	case reflect.String:
		return v.String()
	case reflect.Struct:
		out := make([]any, v.NumField())
		for i := range out {
			out[i] = fromGo(v.Field(i))
		}
		return out
	case reflect.Slice:
		out := make([]any, v.Len())
		for i := range out {
			out[i] = fromGo(v.Index(i))
		}
		return out
	}
	panic("ssasmt: a value outside the subset: " + v.Kind().String())
}

// Call runs a function, named as in Unit. The result is Panicked if it panics.
func (m *Machine) Call(name string, args ...any) (result any, err error) {
	fn := m.functions[name]
	if fn == nil || len(fn.Params) != len(args) {
		return nil, fault.New("ssasmt: run", fault.NotFound, "no function %s of %d parameters", name, len(args))
	}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case Panicked:
			result = r
		case *fault.Error:
			err = r
		default:
			panic(r)
		}
	}()
	budget := m.limit
	return run(fn, args, &budget), nil
}

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

func constantOf(c *ssa.Const) any {
	zero := zeroOf(c.Type())
	if c.Value == nil {
		return zero
	}
	switch zero.(type) {
	case bool:
		return constant.BoolVal(c.Value)
	case string:
		return constant.StringVal(c.Value)
	case uint8:
		return uint8(c.Uint64())
	}
	return c.Int64()
}

func zeroOf(t types.Type) any {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		out := make([]any, u.NumFields())
		for i := range out {
			out[i] = zeroOf(u.Field(i).Type())
		}
		return out
	case *types.Basic:
		switch u.Kind() {
		case types.Bool, types.UntypedBool:
			return false
		case types.String, types.UntypedString:
			return ""
		case types.Uint8:
			return uint8(0)
		case types.Int, types.Int64, types.UntypedInt, types.UntypedRune:
			return int64(0)
		}
	}
	panic(outside(t.String()))
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

func binaryOf(op token.Token, a, b any) any {
	switch op {
	case token.EQL:
		return reflect.DeepEqual(a, b)
	case token.NEQ:
		return !reflect.DeepEqual(a, b)
	}
	switch x := a.(type) {
	case int64:
		return numeric(op, x, b.(int64))
	case uint8:
		return numeric(op, x, b.(uint8))
	}
	panic(outside(op.String()))
}

func numeric[N int64 | uint8](op token.Token, a, b N) any {
	switch op {
	case token.ADD:
		return a + b
	case token.SUB:
		return a - b
	case token.MUL:
		return a * b
	case token.LSS:
		return a < b
	case token.LEQ:
		return a <= b
	case token.GTR:
		return a > b
	case token.GEQ:
		return a >= b
	}
	panic(outside(op.String()))
}

func byteOf(text, at any) any {
	s, ok := text.(string)
	if !ok {
		panic(outside(fmt.Sprintf("an index into %T", text)))
	}
	i, ok := at.(int64)
	if !ok {
		i = int64(at.(uint8))
	}
	if i < 0 || i >= int64(len(s)) {
		panic(Panicked{})
	}
	return s[i]
}

func convertTo(zero, v any) any {
	switch zero.(type) {
	case int64:
		switch v := v.(type) {
		case int64:
			return v
		case uint8:
			return int64(v)
		}
	case uint8:
		switch v := v.(type) {
		case int64:
			return uint8(v)
		case uint8:
			return v
		}
	case string:
		if s, ok := v.(string); ok {
			return s
		}
	}
	panic(outside("this conversion"))
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
