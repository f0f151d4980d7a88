package validate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"world/drift/ssasmt"
	"world/fault"
)

// complete holds that no law of the package is left out: every function stands in
// the files that are proved or on the list of those that only read, and no
// variable of the package is one.
func (s Subject) complete(c *ssasmt.Checked) error {
	found := map[string]bool{}
	for i, file := range c.Files {
		law := len(s.Files) == 0 || slices.Contains(s.Files, c.Names[i])
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if law {
					continue
				}
				name := nameOf(d)
				if !slices.Contains(s.Reading, name) {
					return s.incomplete(c, d.Name, "function %s is not proved: it stands outside %v, and not on the list of functions that only read", name, s.Files)
				}
				found[name] = true
			case *ast.GenDecl:
				if err := s.variables(c, d, law); err != nil {
					return err
				}
			}
		}
	}
	for _, name := range s.Reading {
		if !found[name] {
			return fault.New("validate: complete", fault.Invalid, "%s: function %s is on the list of those that only read, and is not there", s.Package, name)
		}
	}
	return nil
}

// variables refuses those that could hold a function. Beside laws no variable is
// wanted: what they answer hangs on their arguments alone.
func (s Subject) variables(c *ssasmt.Checked, d *ast.GenDecl, law bool) error {
	if d.Tok != token.VAR {
		return nil
	}
	for _, spec := range d.Specs {
		v := spec.(*ast.ValueSpec)
		for _, name := range v.Names {
			object := c.Info.Defs[name]
			switch {
			case name.Name == "_":
			case law:
				return s.incomplete(c, name, "variable %s is outside the subset: a law is a function and keeps nothing", name.Name)
			case callable(object.Type(), map[types.Type]bool{}):
				return s.incomplete(c, name, "variable %s is not proved: it holds a function", name.Name)
			}
		}
		for _, value := range v.Values {
			if at := functionIn(c.Info, value); at != nil {
				return s.incomplete(c, at, "variable %s is not proved: a function is in its value", v.Names[0].Name)
			}
		}
	}
	return nil
}

func (s Subject) incomplete(c *ssasmt.Checked, at ast.Node, format string, args ...any) error {
	p := c.Fset.Position(at.Pos())
	return fault.New("validate: complete", fault.Invalid, "%s:%d: "+format, append([]any{p.Filename, p.Line}, args...)...)
}

// callable reports whether a value of the type holds functions.
func callable(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t := t.Underlying().(type) {
	case *types.Signature:
		return true
	case *types.Pointer:
		return callable(t.Elem(), seen)
	case *types.Slice:
		return callable(t.Elem(), seen)
	case *types.Array:
		return callable(t.Elem(), seen)
	case *types.Chan:
		return callable(t.Elem(), seen)
	case *types.Map:
		return callable(t.Key(), seen) || callable(t.Elem(), seen)
	case *types.Struct:
		for field := range t.Fields() {
			if callable(field.Type(), seen) {
				return true
			}
		}
	}
	return false
}

// functionIn finds a function that is used as a value.
func functionIn(info *types.Info, value ast.Expr) ast.Node {
	called := map[ast.Expr]bool{}
	var at ast.Node
	ast.Inspect(value, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok || at != nil {
			return at == nil
		}
		if call, ok := e.(*ast.CallExpr); ok {
			called[call.Fun] = true
		}
		if called[e] {
			return false
		}
		if tv, ok := info.Types[e]; ok && tv.IsValue() && callable(tv.Type, map[types.Type]bool{}) {
			at = e
		}
		return at == nil
	})
	return at
}

// nameOf is "Parse" of a function and "Ended.output" of a method.
func nameOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "." + d.Name.Name
	}
	return "?." + d.Name.Name
}
