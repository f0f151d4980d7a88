package validate

import (
	"fmt"
	"strconv"
	"strings"

	"world/drift/ssasmt"
	"world/fault"
	"world/spec/smtlib"
)

// Counterexample is an input on which a function does not answer as the model.
type Counterexample struct {
	Func      *ssasmt.Func
	Args      []Value // in the order of the parameters
	Answers   Value
	Panics    bool
	Wanted    Value
	MustPanic bool
}

// Value is a Go value that a solver found.
type Value struct {
	Name   string // of the parameter or field
	Type   string // Go type of a struct or of a list's elements, "" otherwise
	Sort   string // SMT sort of anything but a struct and a list
	Text   string // of the same, in Go's syntax
	Fields []Value
	List   bool
}

// Go writes the value as a Go expression; qualify goes before type names.
func (v Value) Go(qualify string) string {
	if v.Type == "" && !v.List {
		return v.Text
	}
	var parts []string
	for _, f := range v.Fields {
		if v.List {
			parts = append(parts, f.Go(qualify))
		} else {
			parts = append(parts, f.Name+": "+f.Go(qualify))
		}
	}
	open := qualify + v.Type + "{"
	if v.List {
		open = "[]" + open
	}
	return open + strings.Join(parts, ", ") + "}"
}

// Machine returns the value as package ssasmt's machine has it.
func (v Value) Machine() any {
	if v.Type != "" || v.List {
		out := make([]any, len(v.Fields))
		for i, f := range v.Fields {
			out[i] = f.Machine()
		}
		return out
	}
	switch v.Sort {
	case ssasmt.Bool:
		return v.Text == "true"
	case ssasmt.Text:
		text, err := strconv.Unquote(v.Text)
		if err != nil {
			panic("validate: a text that was quoted cannot be unquoted")
		}
		return text
	}
	n, err := strconv.ParseInt(v.Text, 10, 64)
	if err != nil {
		panic("validate: a number that was printed cannot be read")
	}
	if v.Sort == ssasmt.Byte {
		return uint8(n)
	}
	return n
}

// String renders the counterexample on one line.
func (c Counterexample) String() string {
	var args []string
	for _, a := range c.Args {
		args = append(args, a.Name+"="+a.Go(""))
	}
	says := func(panics bool, v Value) string {
		if panics {
			return "panics"
		}
		return "answers " + v.Go("")
	}
	return fmt.Sprintf("%s(%s) %s, the model %s", c.Func.Name, strings.Join(args, ", "), says(c.Panics, c.Answers), says(c.MustPanic, c.Wanted))
}

// reading turns a solver's values into Go's.
type reading struct {
	unit  *ssasmt.Unit
	ask   func(string) (smtlib.Node, error)
	bytes bool              // the function looks into text
	texts map[string]string // Go text by the solver's name of it
}

// counterexample reads the input of a failed obligation from the solver.
func (t *Task) counterexample(ob Obligation, ask func(string) (smtlib.Node, error)) (*Counterexample, error) {
	r := &reading{unit: t.Unit, ask: ask, bytes: t.looksIntoText(ob.Func), texts: map[string]string{}}
	for _, s := range t.texts {
		value, err := ask("(go.text " + ssasmt.Quote(s) + ")")
		if err != nil {
			return nil, err
		}
		r.texts[value.String()] = s
	}
	c := &Counterexample{Func: ob.Func}
	list := Value{List: true}
	found := map[string]Value{}
	for _, s := range ob.show {
		v, err := r.value(s.term, s.sort)
		if err != nil {
			return nil, err
		}
		if strings.Contains(s.label, "[") {
			list.Fields = append(list.Fields, v)
		}
		v.Name = s.label
		found[s.label] = v
	}
	for _, p := range ob.Func.Params {
		name := strings.TrimPrefix(p.Symbol, "p.")
		v, ok := found[name]
		if !ok { // the list, whose elements were asked for one by one
			v = list
			v.Type = r.typeName(ob.Func.Loop.Elem)
		}
		v.Name = name
		c.Args = append(c.Args, v)
	}
	c.Answers, c.Wanted = found["answers"], found["must answer"]
	c.Panics, c.MustPanic = found["panics"].Text == "true", found["must panic"].Text == "true"
	return c, nil
}

func (r *reading) typeName(sort string) string {
	if s := r.structure(sort); s != nil {
		return s.Name
	}
	return map[string]string{ssasmt.Int: "int64", ssasmt.Byte: "byte", ssasmt.Bool: "bool", ssasmt.Text: "string"}[sort]
}

func (r *reading) structure(sort string) *ssasmt.Struct {
	for i := range r.unit.Structs {
		if r.unit.Structs[i].Sort == sort {
			return &r.unit.Structs[i]
		}
	}
	return nil
}

// value reads one term, struct field by struct field.
func (r *reading) value(term, sort string) (Value, error) {
	if s := r.structure(sort); s != nil {
		v := Value{Type: s.Name}
		for _, f := range s.Fields {
			field, err := r.value(fmt.Sprintf("(%s.%s %s)", s.Sort, f.Symbol, term), f.Sort)
			if err != nil {
				return Value{}, err
			}
			field.Name = f.Symbol
			v.Fields = append(v.Fields, field)
		}
		return v, nil
	}
	answer, err := r.ask(term)
	if err != nil {
		return Value{}, err
	}
	switch sort {
	case ssasmt.Bool:
		return Value{Sort: sort, Text: answer.Atom}, nil
	case ssasmt.Text:
		text, err := r.text(term, answer.String())
		return Value{Sort: sort, Text: strconv.Quote(text)}, err
	}
	n, err := number(answer.Atom)
	if err != nil {
		return Value{}, err
	}
	if sort == ssasmt.Int {
		return Value{Sort: sort, Text: strconv.FormatInt(int64(n), 10)}, nil
	}
	return Value{Sort: sort, Text: strconv.FormatUint(n, 10)}, nil
}

// number reads a bit-vector, #x or #b.
func number(atom string) (uint64, error) {
	digits, base := strings.TrimPrefix(atom, "#x"), 16
	if strings.HasPrefix(atom, "#b") {
		digits, base = strings.TrimPrefix(atom, "#b"), 2
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		return 0, fault.New("validate: counterexample", fault.Failed, "%q is not a number", atom)
	}
	return n, nil
}

// text gives the solver's text a name in Go: a literal's own, the bytes if the
// function looks at them, or else one that no literal has.
func (r *reading) text(term, name string) (string, error) {
	if known, ok := r.texts[name]; ok {
		return known, nil
	}
	made := fmt.Sprintf("text %d", len(r.texts)+1)
	if r.bytes {
		var err error
		if made, err = r.spelled(term); err != nil {
			return "", err
		}
	}
	r.texts[name] = made
	return made, nil
}

// spelled reads a text byte by byte.
func (r *reading) spelled(term string) (string, error) {
	const limit = 64
	answer, err := r.ask("(go.len " + term + ")")
	if err != nil {
		return "", err
	}
	length, err := number(answer.Atom)
	if err != nil {
		return "", err
	}
	if length > limit {
		return fmt.Sprintf("a text of %d bytes", length), nil
	}
	out := make([]byte, length)
	for i := range out {
		answer, err := r.ask(fmt.Sprintf("(go.byte %s #x%016x)", term, i))
		if err != nil {
			return "", err
		}
		b, err := number(answer.Atom)
		if err != nil {
			return "", err
		}
		out[i] = byte(b)
	}
	return string(out), nil
}

// looksIntoText reports whether f or what it calls reads lengths or bytes.
func (t *Task) looksIntoText(f *ssasmt.Func) bool {
	if strings.Contains(f.Defs, "(go.len ") || strings.Contains(f.Defs, "(go.byte ") {
		return true
	}
	for _, name := range f.Callees {
		if t.looksIntoText(t.Unit.Function(name)) {
			return true
		}
	}
	return false
}
