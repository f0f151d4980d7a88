package ssasmt

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"

	"world/fault"
)

// Source is a Go package as text, ready to be translated, and to be translated
// again with edited files: its dependencies are read once.
type Source struct {
	Path  string            // import path
	Files map[string][]byte // by slash path relative to the module root
	deps  map[string]*types.Package
	sizes types.Sizes
}

// Load reads the package of that import path as seen from directory dir.
func Load(dir, path string) (*Source, error) {
	const op = "ssasmt: load"
	config := &packages.Config{Dir: dir, Mode: packages.LoadSyntax | packages.NeedModule | packages.NeedTypesSizes}
	found, err := packages.Load(config, path)
	if err != nil {
		return nil, fault.Wrap(op, fault.Unavailable, err, "%s", path)
	}
	if len(found) != 1 {
		return nil, fault.New(op, fault.Invalid, "%s names %d packages, not one", path, len(found))
	}
	p := found[0]
	if len(p.Errors) > 0 && len(p.GoFiles) == 0 {
		return nil, fault.Wrap(op, fault.NotFound, p.Errors[0], "%s is not to be found from %q: that must be a directory of the module that holds it", path, dir)
	}
	if len(p.Errors) > 0 {
		return nil, fault.Wrap(op, fault.Invalid, p.Errors[0], "%s does not compile: %s", path, p.Errors[0])
	}
	if p.Module == nil {
		return nil, fault.New(op, fault.Invalid, "%s is outside a module", path)
	}
	for _, file := range p.IgnoredFiles {
		if !strings.HasSuffix(file, "_test.go") {
			return nil, fault.New(op, fault.Invalid, "%s of %s is left out by a build constraint, so that nothing would be known of it", filepath.Base(file), path)
		}
	}
	s := &Source{Path: p.PkgPath, Files: map[string][]byte{}, deps: map[string]*types.Package{}, sizes: p.TypesSizes}
	for _, dep := range p.Types.Imports() {
		s.deps[dep.Path()] = dep
	}
	for _, file := range p.GoFiles {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fault.Wrap(op, fault.Unavailable, err, "a file of %s", path)
		}
		name, err := filepath.Rel(p.Module.Dir, file)
		if err != nil {
			return nil, fault.Wrap(op, fault.Unavailable, err, "a file of %s", path)
		}
		s.Files[filepath.ToSlash(name)] = text
	}
	return s, nil
}

// FromText returns a source of files that import nothing.
func FromText(path string, files map[string][]byte) *Source {
	return &Source{Path: path, Files: files, sizes: types.SizesFor("gc", "amd64")}
}

// With returns the source with one file's text replaced.
func (s *Source) With(file string, text []byte) *Source {
	edited := *s
	edited.Files = maps.Clone(s.Files)
	edited.Files[file] = text
	return &edited
}

// Import lets the type checker find what the package imports.
func (s *Source) Import(path string) (*types.Package, error) {
	if p := s.deps[path]; p != nil {
		return p, nil
	}
	return nil, fault.New("ssasmt: import", fault.NotFound, "%s", path)
}

// Checked is a source that compiles: its syntax with types.
type Checked struct {
	Fset  *token.FileSet
	Names []string // file names, sorted; Syntax is in the same order
	Files []*ast.File
	Types *types.Package
	Info  *types.Info
	src   *Source
}

// Check parses the source and checks its types.
func (s *Source) Check() (*Checked, error) {
	const op = "ssasmt: check"
	c := &Checked{Fset: token.NewFileSet(), Names: slices.Sorted(maps.Keys(s.Files)), src: s}
	for _, name := range c.Names {
		file, err := parser.ParseFile(c.Fset, name, s.Files[name], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fault.Wrap(op, fault.Invalid, err, "%s does not parse", name)
		}
		c.Files = append(c.Files, file)
	}
	c.Info = &types.Info{
		Types:      map[ast.Expr]types.TypeAndValue{},
		Defs:       map[*ast.Ident]types.Object{},
		Uses:       map[*ast.Ident]types.Object{},
		Implicits:  map[ast.Node]types.Object{},
		Scopes:     map[ast.Node]*types.Scope{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
		Instances:  map[*ast.Ident]types.Instance{},
	}
	config := types.Config{Importer: s, Sizes: s.sizes}
	var err error
	if c.Types, err = config.Check(s.Path, c.Fset, c.Files, c.Info); err != nil {
		return nil, fault.Wrap(op, fault.Invalid, err, "%s does not compile", s.Path)
	}
	return c, nil
}

// Compiles reports whether the source compiles with one file's text replaced, as Check
// of such a source does. It costs less: the other files are not parsed again, and
// nothing is kept of what is found.
func (c *Checked) Compiles(file string, text []byte) bool {
	parsed, err := parser.ParseFile(c.Fset, file, text, parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	files := slices.Clone(c.Files)
	if i := slices.Index(c.Names, file); i >= 0 {
		files[i] = parsed
	} else {
		files = append(files, parsed)
	}
	config := types.Config{Importer: c.src, Sizes: c.src.sizes}
	_, err = config.Check(c.src.Path, c.Fset, files, nil)
	return err == nil
}

// SSA builds the SSA form. Dependencies have types but no bodies.
func (c *Checked) SSA() *ssa.Package {
	program := ssa.NewProgram(c.Fset, ssa.BuilderMode(0))
	seen := map[*types.Package]bool{}
	var add func([]*types.Package)
	add = func(imports []*types.Package) {
		for _, p := range imports {
			if !seen[p] {
				seen[p] = true
				program.CreatePackage(p, nil, nil, true)
				add(p.Imports())
			}
		}
	}
	add(c.Types.Imports())
	built := program.CreatePackage(c.Types, c.Files, c.Info, false)
	built.Build()
	return built
}
