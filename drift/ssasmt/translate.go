package ssasmt

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// translator holds what is shared by the functions of one package.
type translator struct {
	checked  *Checked
	unit     *Unit
	sorts    *sorts
	terms    *terms
	literals map[string]bool
	done     map[*ssa.Function]*Func
	open     map[*ssa.Function]bool // being translated: reaching one again is recursion
	wanted   map[*ssa.Function]bool
}

// Translate translates every function declared in the given files, or in the
// whole package when none is given. The first construct outside the subset ends
// it with a *Refusal.
func (c *Checked) Translate(files ...string) (*Unit, error) {
	tr := &translator{
		checked: c, unit: &Unit{}, terms: newTerms(), literals: map[string]bool{},
		sorts: &sorts{root: c.Types, declared: map[string]bool{}},
		done:  map[*ssa.Function]*Func{}, open: map[*ssa.Function]bool{}, wanted: map[*ssa.Function]bool{},
	}
	built := c.SSA()
	var order []*ssa.Function
	for i, file := range c.Files {
		if len(files) > 0 && !slices.Contains(files, c.Names[i]) {
			continue
		}
		for _, decl := range file.Decls {
			d, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			object, _ := c.Info.Defs[d.Name].(*types.Func)
			fn := built.Prog.FuncValue(object)
			if fn == nil { // init functions and generic ones have no value
				return nil, tr.refuse(d.Pos(), "function "+d.Name.Name)
			}
			tr.wanted[fn] = true
			order = append(order, fn)
		}
	}
	for _, fn := range order {
		if _, err := tr.function(fn); err != nil {
			return nil, err
		}
	}
	tr.unit.Sorts, tr.unit.Structs = tr.sorts.decls, tr.sorts.structs
	return tr.unit, nil
}

func (tr *translator) refuse(pos token.Pos, what string) *Refusal {
	p := tr.checked.Fset.Position(pos)
	return &Refusal{File: p.Filename, Line: p.Line, What: what}
}

// function translates fn and, before it, what it calls.
func (tr *translator) function(fn *ssa.Function) (*Func, error) {
	if f := tr.done[fn]; f != nil {
		return f, nil
	}
	if tr.open[fn] {
		return nil, tr.refuse(fn.Pos(), "recursion")
	}
	tr.open[fn] = true
	position := tr.checked.Fset.Position(fn.Pos())
	f := &Func{Name: fn.Name(), File: position.Filename, Line: position.Line}
	x := &executor{tr: tr, fn: fn, out: f, params: map[ssa.Value]*term{}}
	if err := x.signature(); err != nil {
		return nil, err
	}
	if err := x.define(); err != nil {
		return nil, err
	}
	delete(tr.open, fn)
	tr.done[fn] = f
	tr.unit.Funcs = append(tr.unit.Funcs, f)
	return f, nil
}

// executor translates one function.
type executor struct {
	tr     *translator
	fn     *ssa.Function
	out    *Func
	params map[ssa.Value]*term
	loop   *loop
	lists  map[ssa.Value]string // parameters that are lists, and the function of their length
}

// signature fixes name, parameters and result.
func (x *executor) signature() error {
	fn, tr := x.fn, x.tr
	s := fn.Signature
	switch {
	case s.Results().Len() != 1:
		return tr.refuse(fn.Pos(), fmt.Sprintf("a function of %d results", s.Results().Len()))
	case s.Variadic():
		return tr.refuse(fn.Pos(), "a variadic function")
	case len(fn.Blocks) == 0:
		return tr.refuse(fn.Pos(), "a function without a body")
	case fn.Recover != nil:
		return tr.refuse(fn.Pos(), "a deferred call")
	case len(fn.AnonFuncs) > 0:
		return tr.refuse(fn.AnonFuncs[0].Pos(), "a function literal")
	}
	if recv := s.Recv(); recv != nil {
		named, ok := types.Unalias(recv.Type()).(*types.Named)
		if !ok {
			return tr.refuse(fn.Pos(), "a method of a pointer")
		}
		x.out.Name = named.Obj().Name() + "." + fn.Name()
	}
	x.out.Symbol = Symbol(x.out.Name)
	x.lists = map[ssa.Value]string{}
	for i, p := range fn.Params {
		name := p.Name()
		if name == "" || name == "_" {
			name = fmt.Sprintf("unnamed%d", i)
		}
		param := Param{Symbol: "p." + name}
		if slice, ok := p.Type().Underlying().(*types.Slice); ok {
			elem, refused := tr.sorts.of(slice.Elem())
			if refused != "" {
				return tr.refuse(p.Pos(), refused)
			}
			param.Sort, x.lists[p] = tr.sorts.list(elem)
		} else {
			sort, refused := tr.sorts.of(p.Type())
			if refused != "" {
				return tr.refuse(p.Pos(), refused)
			}
			param.Sort = sort
		}
		x.out.Params = append(x.out.Params, param)
		x.params[p] = tr.terms.make(param.Symbol)
	}
	var refused string
	if x.out.Result, refused = tr.sorts.of(s.Results().At(0).Type()); refused != "" {
		return tr.refuse(fn.Pos(), refused)
	}
	return nil
}

// define writes the SMT definitions of the function.
func (x *executor) define() error {
	loop, err := x.findLoop()
	if err != nil {
		return err
	}
	if loop != nil {
		return x.defineLoop(loop)
	}
	r := x.region(nil)
	if err := r.run(x.fn.Blocks[0]); err != nil {
		return err
	}
	x.emit("", nil, x.out.Result, r.value())
	x.emit(".panics", nil, Bool, r.panics)
	return nil
}

// emit writes one definition over the function's parameters and more.
func (x *executor) emit(suffix string, more []Param, sort string, body *term) {
	var params []string
	for _, p := range append(slices.Clone(x.out.Params), more...) {
		params = append(params, fmt.Sprintf("(%s %s)", p.Symbol, p.Sort))
	}
	x.out.Defs += fmt.Sprintf("(define-fun %s%s (%s) %s\n  %s)\n",
		x.out.Symbol, suffix, strings.Join(params, " "), sort, x.tr.terms.render(body))
}
