package mutate

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"world/drift/ssasmt"
)

// Go returns the mutants of the functions and constants of the given files, or of
// the whole package, that compile, in the order of the text, each text once.
func Go(source *ssasmt.Source, files ...string) ([]Mutant, error) {
	mutants, _, err := collect(source, false, files)
	return mutants, err
}

// Reading returns the mutants of code that reads text, and how many more do not
// compile. A literal becomes empty or the next one of its function, not every text
// of the package; values of an enumeration have no order; and variables of the
// package have mutants too, for such code keeps its tables there.
func Reading(source *ssasmt.Source, files ...string) (mutants []Mutant, refused int, err error) {
	return collect(source, true, files)
}

func collect(source *ssasmt.Source, reading bool, files []string) (mutants []Mutant, refused int, err error) {
	checked, err := source.Check()
	if err != nil {
		return nil, 0, err
	}
	seen := map[string]bool{}
	for i, file := range checked.Files {
		if len(files) > 0 && !slices.Contains(files, checked.Names[i]) {
			continue
		}
		g := &goMutator{checked: checked, reading: reading, file: checked.Names[i], text: source.Files[checked.Names[i]]}
		seen[string(g.text)] = true
		for _, decl := range file.Decls {
			g.declaration(decl)
		}
		for _, m := range g.out {
			if seen[string(m.Text)] {
				continue
			}
			seen[string(m.Text)] = true
			if !checked.Compiles(m.File, m.Text) {
				refused++
				continue
			}
			mutants = append(mutants, m)
		}
	}
	return mutants, refused, nil
}

// goMutator collects the mutants of one file.
type goMutator struct {
	checked *ssasmt.Checked
	reading bool // of text: see Reading
	file    string
	text    []byte
	name    string   // of the declaration it is in
	words   []string // the literals of that declaration, when reading
	out     []Mutant
}

func (g *goMutator) offset(p token.Pos) int { return g.checked.Fset.Position(p).Offset }

func (g *goMutator) source(n ast.Node) string {
	return string(g.text[g.offset(n.Pos()):g.offset(n.End())])
}

func (g *goMutator) add(at token.Pos, what string, edits ...edit) {
	g.out = append(g.out, Mutant{
		Name: g.name, File: g.file, Line: g.checked.Fset.Position(at).Line,
		What: what, Text: apply(g.text, edits...),
	})
}

// replace puts other text in the place of a node.
func (g *goMutator) replace(n ast.Node, with string) {
	g.add(n.Pos(), g.source(n)+" becomes "+with, edit{g.offset(n.Pos()), g.offset(n.End()), with})
}

// swap exchanges two nodes.
func (g *goMutator) swap(a, b ast.Node) {
	g.add(a.Pos(), g.source(a)+" and "+g.source(b)+" change places",
		edit{g.offset(a.Pos()), g.offset(a.End()), g.source(b)}, edit{g.offset(b.Pos()), g.offset(b.End()), g.source(a)})
}

// operator puts every other token of the class in the place of one.
func (g *goMutator) operator(at token.Pos, op token.Token, class []token.Token) {
	if !slices.Contains(class, op) {
		return
	}
	for _, other := range class {
		if other != op {
			start := g.offset(at)
			g.add(at, op.String()+" becomes "+other.String(), edit{start, start + len(op.String()), other.String()})
		}
	}
}

// named is the name of a function, a method's with its receiver's.
func (g *goMutator) named(d *ast.FuncDecl) string {
	if d.Recv != nil {
		return g.source(d.Recv.List[0].Type) + "." + d.Name.Name
	}
	return d.Name.Name
}

func (g *goMutator) declaration(decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		g.name = g.named(d)
		g.words = literals(d.Body)
		ast.Inspect(d.Body, g.node)
	case *ast.GenDecl:
		if d.Tok != token.CONST && !(g.reading && d.Tok == token.VAR) {
			return
		}
		for i, s := range d.Specs {
			spec := s.(*ast.ValueSpec)
			g.name, g.words = spec.Names[0].Name, literals(spec)
			for _, v := range spec.Values {
				ast.Inspect(v, g.node)
			}
			if i > 0 && d.Tok == token.CONST { // in an iota block this renumbers
				g.swap(d.Specs[i-1].(*ast.ValueSpec).Names[0], spec.Names[0])
			}
		}
	}
}

// node adds the mutants of one syntax node.
func (g *goMutator) node(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		g.binary(n)
	case *ast.UnaryExpr:
		if n.Op == token.SUB || n.Op == token.NOT {
			g.replace(n, g.source(n.X))
		}
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE && g.numeric(n.Lhs[0]) {
			g.operator(n.TokPos, n.Tok, storing)
		}
	case *ast.IncDecStmt:
		g.operator(n.TokPos, n.Tok, increment)
	case *ast.BasicLit:
		g.literal(n)
	case *ast.Ident:
		g.identifier(n)
	case *ast.SelectorExpr:
		g.selector(n)
		ast.Inspect(n.X, g.node)
		return false
	case *ast.CompositeLit:
		return g.composite(n)
	case *ast.CallExpr:
		for i := range n.Args {
			for j := range i {
				if types.Identical(g.typeOf(n.Args[i]), g.typeOf(n.Args[j])) {
					g.swap(n.Args[j], n.Args[i])
				}
			}
		}
	case *ast.ForStmt:
		if n.Post != nil {
			g.drop([]ast.Stmt{n.Post})
		}
	case *ast.BlockStmt:
		g.drop(n.List)
	case *ast.CaseClause:
		g.drop(n.Body)
	}
	return true
}

func (g *goMutator) typeOf(e ast.Expr) types.Type { return g.checked.Info.TypeOf(e) }

func (g *goMutator) numeric(e ast.Expr) bool {
	t := g.typeOf(e)
	if t == nil { // of the blank identifier
		return false
	}
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsInteger != 0
}

func (g *goMutator) binary(n *ast.BinaryExpr) {
	_, enumeration := g.typeOf(n.X).(*types.Named)
	if g.numeric(n.X) && !(g.reading && enumeration) {
		g.operator(n.OpPos, n.Op, ordering)
		g.operator(n.OpPos, n.Op, sums)
		return
	}
	g.operator(n.OpPos, n.Op, equality)
	if slices.Contains(logic, n.Op) {
		g.operator(n.OpPos, n.Op, logic)
		g.replace(n, g.source(n.X))
		g.replace(n, g.source(n.Y))
	}
}

// literal changes a number by one, and a text into every other of the package, or
// when reading into the next of the function.
func (g *goMutator) literal(n *ast.BasicLit) {
	switch n.Kind {
	case token.INT:
		if v, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
			g.replace(n, fmt.Sprint(v+1))
			g.replace(n, fmt.Sprintf("(%d)", v-1))
		}
	case token.STRING:
		others := g.texts()
		if g.reading {
			others = g.words[(slices.Index(g.words, n.Value)+1)%len(g.words):][:1]
		}
		for _, other := range others {
			if other != n.Value {
				g.replace(n, other)
			}
		}
		g.replace(n, `""`)
	}
}

// literals lists the texts written below a node, each once.
func literals(below ast.Node) (out []string) {
	ast.Inspect(below, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && !slices.Contains(out, l.Value) {
			out = append(out, l.Value)
		}
		return true
	})
	return out
}

// texts lists the texts that functions of the package return.
func (g *goMutator) texts() []string {
	var out []string
	for _, file := range g.checked.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			r, ok := n.(*ast.ReturnStmt)
			if !ok {
				return true
			}
			for _, e := range r.Results {
				if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING && !slices.Contains(out, l.Value) {
					out = append(out, l.Value)
				}
			}
			return true
		})
	}
	return out
}
