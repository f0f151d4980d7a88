package mutate

import (
	"go/ast"
	"go/types"
	"slices"
)

// identifier puts every other name of the same type in the place of one.
func (g *goMutator) identifier(n *ast.Ident) {
	object := g.checked.Info.Uses[n]
	switch object.(type) {
	case *types.Var, *types.Const, *types.Func:
	default:
		return
	}
	if n.Name == "true" || n.Name == "false" {
		g.replace(n, map[string]string{"true": "false", "false": "true"}[n.Name])
		return
	}
	for scope := g.checked.Types.Scope().Innermost(n.Pos()); scope != nil && scope != types.Universe; scope = scope.Parent() {
		for _, name := range scope.Names() {
			other := scope.Lookup(name)
			_, isType := other.(*types.TypeName)
			if name != n.Name && !isType && types.Identical(other.Type(), object.Type()) {
				g.replace(n, name)
			}
		}
	}
}

// selector puts every other field of the same type in the place of one.
func (g *goMutator) selector(n *ast.SelectorExpr) {
	selection := g.checked.Info.Selections[n]
	if selection == nil || selection.Kind() != types.FieldVal {
		return
	}
	of := selection.Recv()
	if p, ok := of.Underlying().(*types.Pointer); ok {
		of = p.Elem()
	}
	structure, ok := of.Underlying().(*types.Struct)
	if !ok {
		return
	}
	for i := range structure.NumFields() {
		if f := structure.Field(i); f.Name() != n.Sel.Name && types.Identical(f.Type(), selection.Type()) {
			g.replace(n.Sel, f.Name())
		}
	}
}

// composite swaps the fields of one type, drops each, and goes on to the values.
func (g *goMutator) composite(n *ast.CompositeLit) bool {
	for i, a := range n.Elts {
		ka, ok := a.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		for _, b := range n.Elts[:i] {
			kb := b.(*ast.KeyValueExpr)
			if types.Identical(g.typeOf(ka.Key), g.typeOf(kb.Key)) {
				g.swap(kb.Key, ka.Key)
			}
		}
		end := g.offset(ka.End())
		if g.text[end] == ',' {
			end++
		}
		g.add(ka.Pos(), g.source(ka)+" is dropped", edit{g.offset(ka.Pos()), end, ""})
		ast.Inspect(ka.Value, g.node)
	}
	return false
}

// drop leaves out each statement in turn.
func (g *goMutator) drop(list []ast.Stmt) {
	for _, s := range list {
		first := g.source(s)
		if i := slices.Index([]byte(first), '\n'); i >= 0 {
			first = first[:i] + " …"
		}
		g.add(s.Pos(), first+" is dropped", edit{g.offset(s.Pos()), g.offset(s.End()), ""})
	}
}
