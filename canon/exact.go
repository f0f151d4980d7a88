package canon

import (
	"bytes"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// Most bytes that DecodeExact is given are what Encode writes of a struct of
// texts, whole numbers, booleans, and structs and lists of these, with nothing in
// a text that JSON escapes. Such bytes are read here in one pass, for there is one
// form of each member and it is known where it stands. What is read here and what
// the long way accepts is the same, and equal; of all else nothing is decided here.

// shape says how a type is written. Its kind is String, Int64, Bool, Struct or
// Slice.
type shape struct {
	kind    reflect.Kind
	element *shape // of a slice
	fields  []field
}

// field is one member of a struct.
type field struct {
	before []byte // what stands before its value: { or , and its name
	index  int
	shape  *shape
}

// shapes are those of the types seen so far; nil for one that has none.
var shapes sync.Map // reflect.Type to *shape

func shapeOf(t reflect.Type) *shape {
	if known, ok := shapes.Load(t); ok {
		return known.(*shape)
	}
	s := newShape(t, 0)
	shapes.Store(t, s)
	return s
}

// maxNested is how deep structs and lists lie in one another at most.
const maxNested = 8

func newShape(t reflect.Type, depth int) *shape {
	if depth > maxNested || t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler) || t.Implements(texter) || reflect.PointerTo(t).Implements(texter) {
		return nil
	}
	switch t.Kind() {
	case reflect.String, reflect.Bool:
		return &shape{kind: t.Kind()}
	case reflect.Int, reflect.Int64:
		return &shape{kind: reflect.Int64}
	case reflect.Slice:
		element := newShape(t.Elem(), depth+1)
		if element == nil {
			return nil
		}
		return &shape{kind: reflect.Slice, element: element}
	case reflect.Struct:
		return newStruct(t, depth+1)
	}
	return nil
}

var (
	marshaler = reflect.TypeFor[interface{ MarshalJSON() ([]byte, error) }]()
	texter    = reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()
)

func newStruct(t reflect.Type, depth int) *shape {
	s := &shape{kind: reflect.Struct}
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("json")
		inner := newShape(f.Type, depth)
		if !f.IsExported() || f.Anonymous || !plainName(name) || inner == nil {
			return nil
		}
		before := ","
		if i == 0 {
			before = "{"
		}
		s.fields = append(s.fields, field{[]byte(before + `"` + name + `":`), i, inner})
	}
	if len(s.fields) == 0 {
		return nil
	}
	return s
}

// plainName reports whether a tag is a member's name and nothing else.
func plainName(tag string) bool {
	return tag != "" && tag != "-" && !strings.ContainsFunc(tag, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
}

// exact is bytes that are being read, and the same as text, of which texts are cut.
type exact struct {
	raw  []byte
	text string
	at   int
}

// readExact reads raw into v, a pointer, and reports whether it could.
func readExact(raw []byte, v any) bool {
	to := reflect.ValueOf(v).Elem()
	s := shapeOf(to.Type())
	if s == nil {
		return false
	}
	e := exact{raw: raw, text: string(raw)}
	return e.read(s, to) && e.at == len(raw)
}

func (e *exact) read(s *shape, to reflect.Value) bool {
	switch s.kind {
	case reflect.String:
		text, ok := e.string()
		to.SetString(text)
		return ok
	case reflect.Int64:
		n, ok := e.int()
		to.SetInt(n)
		return ok && !to.OverflowInt(n)
	case reflect.Bool:
		yes := e.take([]byte("true"))
		to.SetBool(yes)
		return yes || e.take([]byte("false"))
	case reflect.Slice:
		return e.slice(s, to)
	}
	for i := range s.fields {
		f := &s.fields[i]
		if !e.take(f.before) || !e.read(f.shape, to.Field(f.index)) {
			return false
		}
	}
	return e.take([]byte("}"))
}

func (e *exact) take(word []byte) bool {
	if !bytes.HasPrefix(e.raw[e.at:], word) {
		return false
	}
	e.at += len(word)
	return true
}

// string reads a text in which nothing is escaped, nor would be by Encode.
func (e *exact) string() (string, bool) {
	if !e.take([]byte(`"`)) {
		return "", false
	}
	for i := e.at; i < len(e.raw); i++ {
		switch c := e.raw[i]; {
		case c == '"':
			text := e.text[e.at:i]
			e.at = i + 1
			return text, true
		case c < ' ', c > '~', c == '\\', c == '<', c == '>', c == '&':
			return "", false
		}
	}
	return "", false
}

// maxDigits keeps whole numbers within 64 bits.
const maxDigits = 18

func (e *exact) int() (int64, bool) {
	end := e.at
	if end < len(e.raw) && e.raw[end] == '-' {
		end++
	}
	digits := end
	for end < len(e.raw) && e.raw[end] >= '0' && e.raw[end] <= '9' {
		end++
	}
	first, many := digits, end-digits
	if many == 0 || many > maxDigits || e.raw[first] == '0' && (many > 1 || first > e.at) {
		return 0, false
	}
	n, err := strconv.ParseInt(e.text[e.at:end], 10, 64)
	e.at = end
	return n, err == nil
}

func (e *exact) slice(s *shape, to reflect.Value) bool {
	if !e.take([]byte("[")) {
		return false // null is one, too
	}
	list := reflect.MakeSlice(to.Type(), 0, 1)
	for !e.take([]byte("]")) {
		if list.Len() > 0 && !e.take([]byte(",")) {
			return false
		}
		list = reflect.Append(list, reflect.Zero(to.Type().Elem()))
		if !e.read(s.element, list.Index(list.Len()-1)) {
			return false
		}
	}
	to.Set(list)
	return true
}
