package report

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"world/fault"
	"world/spec"
	"world/spec/smtlib"
)

// piece is a definition in either language.
type piece struct {
	Name  string
	File  string // with its line
	Text  string
	Again bool // it stands further up the page
}

// goFiles hold the Go of the laws, by the package name that the prose uses.
var goFiles = []string{"broker/law", "coordinator/plan/laws.go", "store/record/effect.go", "drift/trace/model.go", "drift/trace/invariants.go"}

// goPieces returns every function of the Go laws below a module's root, by the
// names that the prose may call it by.
func goPieces(root string) ([]piece, error) {
	var out []piece
	for _, name := range goFiles {
		files := []string{filepath.Join(root, name)}
		if filepath.Ext(name) == "" {
			files, _ = filepath.Glob(filepath.Join(root, name, "*.go"))
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			pieces, err := functions(root, file)
			if err != nil {
				return nil, err
			}
			out = append(out, pieces...)
		}
	}
	if len(out) == 0 {
		return nil, fault.New("report", fault.NotFound, "no Go law is below the folder of the module")
	}
	return out, nil
}

func functions(root, file string) ([]piece, error) {
	short, err := filepath.Rel(root, file)
	if err != nil {
		short = filepath.Base(file)
	}
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, nil, parser.ParseComments)
	if err != nil {
		return nil, fault.Wrap("report", fault.Invalid, err, "%s does not parse", short)
	}
	var out []piece
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		var text bytes.Buffer
		if err := (&printer.Config{Mode: printer.UseSpaces | printer.TabIndent, Tabwidth: 4}).Fprint(&text, set, &printer.CommentedNode{Node: f, Comments: parsed.Comments}); err != nil {
			return nil, fault.Wrap("report", fault.Invalid, err, "%s cannot be printed", short)
		}
		name := parsed.Name.Name + "." + f.Name.Name
		if f.Recv != nil {
			name = receiver(f) + "." + f.Name.Name
		}
		at := set.Position(f.Pos())
		out = append(out, piece{Name: name, File: filepath.ToSlash(short) + ":" + itoa(at.Line), Text: strings.ReplaceAll(text.String(), "\t", "    ")})
	}
	return out, nil
}

func receiver(f *ast.FuncDecl) string {
	t := f.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name
	}
	return "?"
}

// moduleRoot is the folder of the go.mod above a directory.
func moduleRoot(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	return "", fault.New("report", fault.NotFound, "the directory is not within a Go module")
}

// smtPieces returns the definitions of a model as its file has them, with the
// comment above each.
func smtPieces(chunk spec.Chunk) ([]piece, error) {
	nodes, err := smtlib.Parse(chunk.File, []byte(chunk.Text))
	if err != nil {
		return nil, err
	}
	lines := strings.Split(chunk.Text, "\n")
	var out []piece
	for i, n := range nodes {
		end := len(lines)
		if i+1 < len(nodes) {
			end = nodes[i+1].Line - 1
		}
		for end > n.Line && (strings.HasPrefix(lines[end-1], ";") || strings.TrimSpace(lines[end-1]) == "") {
			end--
		}
		if n.Head() == "define-fun" {
			out = append(out, piece{Name: n.List[1].Atom, File: chunk.File + ":" + itoa(n.Line), Text: strings.Join(lines[n.Line-1:end], "\n")})
		}
	}
	return out, nil
}
