package validate

import (
	"fmt"
	"strings"

	"world/drift/ssasmt"
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
