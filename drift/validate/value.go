package validate

import (
	"strconv"
	"strings"

	"world/drift/ssasmt"
)

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
