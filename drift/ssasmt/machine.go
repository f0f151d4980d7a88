package ssasmt

import (
	"go/types"

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
