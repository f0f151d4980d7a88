package house_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"testing"
)

// unbounded are the ways to read a file that wait for a pipe and know no size.
var unbounded = map[string]bool{"ReadFile": true, "Open": true, "DirFS": true}

// readers lists who may use them in the rooms where operators name files, and
// what they read.
var readers = map[string]string{
	"world/cmd/internal/statedir.syncFolder": "a folder, to sync it",
	"world/drift/ssasmt.Load":                "files that the go command listed",
}

// TestOperatorsFilesAreReadThroughInfile holds that no file that an operator
// names is waited for, or read without bound.
func TestOperatorsFilesAreReadThroughInfile(t *testing.T) {
	seen := map[string]bool{}
	reads := 0
	for _, p := range load(t) {
		if !within(p.PkgPath, []string{"cmd", "drift", "spec", "z3", "store/handover", "tools/policytool", "tools/runner"}) {
			continue
		}
		for id, used := range p.TypesInfo.Uses {
			f, ok := used.(*types.Func)
			if !ok || f.Pkg() == nil {
				continue
			}
			if f.Pkg().Path() == "world/infile" {
				reads++
			}
			if f.Pkg().Path() != "os" || !unbounded[f.Name()] || f.Signature().Recv() != nil {
				continue
			}
			var by string
			for _, file := range p.Syntax {
				if file.FileStart <= id.Pos() && id.Pos() < file.FileEnd {
					by = p.PkgPath + "." + enclosing(file, id.Pos())
				}
			}
			if seen[by] = true; readers[by] == "" {
				t.Errorf("%s: %s uses os.%s: read it through package infile", p.Fset.Position(id.Pos()), by, f.Name())
			}
		}
	}
	for by := range readers {
		if !seen[by] {
			t.Errorf("%s is on the list and reads no file", by)
		}
	}
	if reads < 8 {
		t.Errorf("%d uses of package infile seen: the check finds too little", reads)
	}
}

// enclosing is the name of the function that a position lies in, "" for none.
func enclosing(file *ast.File, pos token.Pos) string {
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Pos() <= pos && pos < f.End() {
			return f.Name.Name
		}
	}
	return ""
}
