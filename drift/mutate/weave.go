package mutate

import (
	"bytes"
	"fmt"
	"go/ast"
	"strings"

	"world/drift/ssasmt"
)

// chooser is the variable of the environment that tells a woven program which of
// its mutants to be, by number from 1.
const chooser = "WORLD_LAW_MUTANT"

// weave puts the mutants of functions into one text of the package, so that one
// build serves them all: each is a function beside the original, which hands its
// call over when that mutant is chosen. It returns the files that change, among
// them one that is new, and which mutants are inside. What is outside a function,
// and a function whose parameters cannot be handed over, is not.
func weave(source *ssasmt.Source, mutants []Mutant) (files map[string][]byte, inside []bool, err error) {
	checked, err := source.Check()
	if err != nil {
		return nil, nil, err
	}
	files, inside = map[string][]byte{}, make([]bool, len(mutants))
	for i, file := range checked.Files {
		w := &weaver{goMutator: goMutator{checked: checked, file: checked.Names[i], text: source.Files[checked.Names[i]]}}
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.FuncDecl); ok {
				w.function(d, mutants, inside)
			}
		}
		if len(w.edits) > 0 {
			files[w.file] = append(apply(w.text, w.edits...), w.copies.Bytes()...)
		}
	}
	if len(files) > 0 {
		first := checked.Names[0]
		files[first[:strings.LastIndex(first, "/")+1]+"mutant_chosen.go"] = fmt.Appendf(nil,
			"package %s\n\nimport (\n\t\"os\"\n\t\"strconv\"\n)\n\nvar mutantChosen, _ = strconv.Atoi(os.Getenv(%q))\n", checked.Types.Name(), chooser)
	}
	return files, inside, nil
}

// weaver weaves the mutants of one file.
type weaver struct {
	goMutator
	edits  []edit
	copies bytes.Buffer
}

func (w *weaver) function(d *ast.FuncDecl, mutants []Mutant, inside []bool) {
	call, ok := w.handOver(d)
	if !ok {
		return
	}
	start, end := w.offset(d.Pos()), w.offset(d.End())
	name := w.offset(d.Name.End())
	var cases strings.Builder
	for i, m := range mutants {
		if m.File != w.file || m.Name != w.named(d) {
			continue
		}
		inside[i] = true
		suffix := fmt.Sprint("_mutant", i+1)
		// All of a mutant's edits are in the body: the name has not moved.
		fmt.Fprintf(&w.copies, "\n%s%s%s\n", m.Text[start:name], suffix, m.Text[name:end+len(m.Text)-len(w.text)])
		fmt.Fprintf(&cases, "case %d: %s\n", i+1, fmt.Sprintf(call, suffix))
	}
	if cases.Len() > 0 {
		at := w.offset(d.Body.Lbrace) + 1
		w.edits = append(w.edits, edit{at, at, "\nswitch mutantChosen {\n" + cases.String() + "}\n"})
	}
}

// handOver is the statement that calls a copy of a function, with a %s for what
// its name has more, and whether there can be one.
func (w *weaver) handOver(d *ast.FuncDecl) (string, bool) {
	if d.Type.TypeParams != nil || d.Body == nil || d.Recv == nil && d.Name.Name == "init" {
		return "", false
	}
	call := d.Name.Name + "%s("
	if d.Recv != nil {
		names := d.Recv.List[0].Names
		if len(names) == 0 || names[0].Name == "_" {
			return "", false
		}
		call = names[0].Name + "." + call
	}
	for _, field := range d.Type.Params.List {
		if len(field.Names) == 0 {
			return "", false
		}
		for _, name := range field.Names {
			if name.Name == "_" {
				return "", false
			}
			call += name.Name
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				call += "..."
			}
			call += ", "
		}
	}
	call = strings.TrimSuffix(call, ", ") + ")"
	if d.Type.Results == nil {
		return call + "; return", true
	}
	return "return " + call, true
}
