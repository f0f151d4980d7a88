package validate

import (
	"slices"
	"strings"

	"world/drift/ssasmt"
	"world/fault"
	"world/spec"
	"world/spec/smtlib"
)

// Task is a subject translated and matched with its bridge.
type Task struct {
	Unit    *ssasmt.Unit
	model   []spec.Chunk
	prelude []text // the model, the translated Go and the bridge
	bridge  bridge
	texts   []string // that the Go or the model speaks of
}

// Prepare translates the source and checks that the bridge has an answer for
// every function of the package that is not said to read. What cannot be translated is an error that wraps a
// *ssasmt.Refusal.
func Prepare(subject Subject, source *ssasmt.Source, book *spec.Book) (*Task, error) {
	b, err := readBridge(subject.Bridge)
	if err != nil {
		return nil, err
	}
	checked, err := source.Check()
	if err != nil {
		return nil, err
	}
	if err := subject.complete(checked); err != nil {
		return nil, err
	}
	unit, err := checked.Translate(subject.Files...)
	if err != nil {
		return nil, fault.Wrap("validate: translate", fault.Invalid, err, "%s", err)
	}
	if err := b.check(subject.Bridge, unit); err != nil {
		return nil, err
	}
	model := book.Script(spec.BV64, spec.Sort, subject.Models...)
	texts, err := literals(slices.Concat(model, []spec.Chunk{subject.Bridge}))
	if err != nil {
		return nil, err
	}
	translated := spec.Chunk{File: subject.Package + " translated", Text: unit.Proof(texts...)}
	t := &Task{Unit: unit, model: model, bridge: b, texts: append(texts, unit.Literals...)}
	for _, c := range slices.Concat(model, []spec.Chunk{translated, subject.Bridge}) {
		pieces, err := cut(c)
		if err != nil {
			return nil, err
		}
		t.prelude = append(t.prelude, pieces)
	}
	return t, nil
}

// literals lists the texts in scripts.
func literals(chunks []spec.Chunk) ([]string, error) {
	var out []string
	var visit func(n smtlib.Node)
	visit = func(n smtlib.Node) {
		if strings.HasPrefix(n.Atom, `"`) && !slices.Contains(out, n.Text()) {
			out = append(out, n.Text())
		}
		for _, inner := range n.List {
			visit(inner)
		}
	}
	for _, c := range chunks {
		nodes, err := smtlib.Parse(c.File, []byte(c.Text))
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			visit(n)
		}
	}
	return out, nil
}
