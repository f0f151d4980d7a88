package guards_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.starlark.net/syntax"
	"golang.org/x/tools/go/packages"

	"world/ci/guards"
)

// TestRemovalsFit holds that each guard can still be taken out: its text is where the
// table says, and what is left compiles.
func TestRemovalsFit(t *testing.T) {
	pkgs := load(t)
	for _, r := range guards.Removals {
		if len(r.Edits) == 0 || r.Tests == "" {
			t.Errorf("%s: a removal has at least one edit, and tests that see it", r.Guard)
		}
		files, err := r.Apply(root(t))
		if err != nil {
			t.Errorf("%s: %v", r.Guard, err)
		}
		if err := compiles(pkgs, root(t), files); err != nil {
			t.Errorf("%s: %v", r.Guard, err)
		}
	}
}

// load reads the packages that removals change.
func load(t *testing.T) map[string]*packages.Package {
	t.Helper()
	dirs := map[string]bool{}
	for _, r := range guards.Removals {
		for _, e := range r.Edits {
			if path.Ext(e.File) == ".go" {
				dirs["world/"+path.Dir(e.File)] = true
			}
		}
	}
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax, Dir: root(t)}, slices.Sorted(maps.Keys(dirs))...)
	if err != nil || packages.PrintErrors(loaded) > 0 {
		t.Fatalf("packages do not load: %v", err)
	}
	pkgs := map[string]*packages.Package{}
	for _, p := range loaded {
		pkgs[strings.TrimPrefix(p.PkgPath, "world/")] = p
	}
	return pkgs
}

// compiles checks the types of each package with some of its files changed. What
// others use of it is as it was, for no edit is about a declaration.
func compiles(pkgs map[string]*packages.Package, root string, files map[string]string) error {
	changed := map[*packages.Package]map[string]string{}
	for name, text := range files {
		if path.Ext(name) == ".star" {
			options := syntax.FileOptions{}
			if _, err := options.Parse(name, text, 0); err != nil {
				return err
			}
			continue
		}
		p := pkgs[path.Dir(name)]
		if changed[p] == nil {
			changed[p] = map[string]string{}
		}
		changed[p][filepath.Join(root, name)] = text
	}
	for p, texts := range changed {
		fset := token.NewFileSet()
		var parsed []*ast.File
		for _, name := range p.CompiledGoFiles {
			var source any
			if text, ok := texts[name]; ok {
				source = text
			}
			f, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			parsed = append(parsed, f)
		}
		config := types.Config{Importer: imports(p.Imports), Sizes: p.TypesSizes}
		if _, err := config.Check(p.PkgPath, fset, parsed, nil); err != nil {
			return err
		}
	}
	return nil
}

// imports are what a package was loaded with.
type imports map[string]*packages.Package

func (i imports) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	return i[path].Types, nil
}

// TestRemovalsThatDoNotFit is the control: text that is not there, or there twice, and
// what does not compile, in either language, are seen.
func TestRemovalsThatDoNotFit(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.go": "package a\n\nvar x, y = 1, 1\n", "a.star": "x = 1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pkgs := map[string]*packages.Package{".": {PkgPath: "a", CompiledGoFiles: []string{filepath.Join(dir, "a.go")}}}
	for _, test := range []struct {
		name           string
		edits          []guards.Edit
		apply, compile bool
	}{
		{"fits", []guards.Edit{{File: "a.go", Old: "x", New: "z"}}, true, true},
		{"two that follow each other", []guards.Edit{{File: "a.go", Old: "x", New: "z"}, {File: "a.go", Old: "z", New: "w"}}, true, true},
		{"fits in Starlark", []guards.Edit{{File: "a.star", Old: "x", New: "z"}}, true, true},
		{"is not there", []guards.Edit{{File: "a.go", Old: "q", New: "z"}}, false, false},
		{"is there twice", []guards.Edit{{File: "a.go", Old: "1", New: "2"}}, false, false},
		{"no file", []guards.Edit{{File: "b.go", Old: "x", New: "z"}}, false, false},
		{"a name too few", []guards.Edit{{File: "a.go", Old: "1, 1", New: "q, 1"}}, true, false},
		{"no Go", []guards.Edit{{File: "a.go", Old: "1, 1", New: "{"}}, true, false},
		{"no Starlark", []guards.Edit{{File: "a.star", Old: "1", New: "("}}, true, false},
	} {
		files, err := guards.Removal{Edits: test.edits}.Apply(dir)
		if (err == nil) != test.apply {
			t.Errorf("%s: %v", test.name, err)
		}
		if err == nil {
			if err := compiles(pkgs, dir, files); (err == nil) != test.compile {
				t.Errorf("%s: %v", test.name, err)
			}
		}
	}
}
