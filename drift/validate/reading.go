package validate

import (
	"fmt"
	"strconv"
	"strings"

	"world/drift/ssasmt"
	"world/fault"
	"world/spec/smtlib"
)

// reading turns a solver's values into Go's.
type reading struct {
	unit  *ssasmt.Unit
	ask   func(string) (smtlib.Node, error)
	bytes bool              // the function looks into text
	texts map[string]string // Go text by the solver's name of it
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
