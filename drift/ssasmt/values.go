package ssasmt

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"

	"golang.org/x/tools/go/ssa"
)

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
