// Package ssasmt translates pure Go functions to SMT-LIB 2.
//
// It reads a package with go/packages, builds go/ssa, and turns every function
// into definitions with Go's own meaning: int and int64 are 64-bit vectors that
// wrap, bytes are 8-bit vectors, structs are datatypes, and text is a sort with
// equality, a length and bytes. A panic is a condition of its own beside the
// value. A function with one loop over a list or a text becomes four parts
// (before, one turn, after, and the panics of each), from which a proof by
// induction is made.
//
// The subset is small and closed. What lies outside it is refused with file and
// line (Refusal), never approximated: maps, pointers that travel, closures,
// interfaces, several results, division, shifts, other integer widths, ordering
// or joining of text, a second loop, recursion, calls into other packages.
//
// It promises that a translated definition equals the SSA of the function on a
// machine where int has 64 bits. It does not promise that the compiled binary
// follows the SSA; the compiler and go/ssa are trusted.
package ssasmt

import "fmt"

// Refusal says which construct of the Go source is outside the subset, and where.
type Refusal struct {
	File string // relative to the module root
	Line int
	What string
}

// Error renders the refusal as file:line: what.
func (r *Refusal) Error() string {
	return fmt.Sprintf("%s:%d: %s is outside the subset", r.File, r.Line, r.What)
}

// Unit is one translated package.
type Unit struct {
	Sorts    []string // datatype and sort declarations, in order of use
	Structs  []Struct // what the datatypes of Go structs are made of
	Literals []string // Go string constants that occur, each once
	Funcs    []*Func  // every function of the files asked for, callees first
}

// Func is one translated function.
type Func struct {
	Name    string // "Judge", or "Verdict.Label" for a method
	Symbol  string // its SMT name, "go.Judge"
	File    string // relative to the module root
	Line    int
	Params  []Param
	Result  string   // SMT sort of the result
	Defs    string   // the SMT definitions
	Loop    *Loop    // nil when the function has no loop
	Callees []string // names of the functions it calls, each once
}

// Struct is a Go struct as a datatype, to read values back.
type Struct struct {
	Name   string // in Go
	Sort   string
	Fields []Param // Symbol is the field's name in Go
}

// Param is one parameter: its SMT symbol and sort.
type Param struct {
	Symbol string
	Sort   string
}

// Loop describes the parts of a function with a loop. Let P be the parameters:
//
//	go.F.enters (P) Bool                 the loop is reached
//	go.F.early  (P) result               the value when it is not
//	go.F.before (P) state                the state at the first turn
//	go.F.again  (P i elem state) Bool    turn i goes on to the next
//	go.F.turn   (P i elem state) state   the state after turn i, when it goes on
//	go.F.exit   (P i elem state) result  the value when turn i leaves the function
//	go.F.after  (P i state) result       the value when the loop ends after i turns
//	go.F.panics.before (P), go.F.panics.turn (P i elem state), go.F.panics.after (P i state) Bool
//
// elem is absent for a text: its byte is (go.byte text i).
type Loop struct {
	Over   Param  // the list or text
	Length string // the SMT term of its length
	Elem   string // sort of an element, "" for a text
	State  string // sort of the state
}

// Symbol returns the SMT name of the Go function or type name.
func Symbol(name string) string { return "go." + name }

// Function returns the translated function of that name, or nil.
func (u *Unit) Function(name string) *Func {
	for _, f := range u.Funcs {
		if f.Name == name {
			return f
		}
	}
	return nil
}
