// Package canon reads JSON strictly and writes it canonically.
//
// Reading promises: exactly one value, valid UTF-8, no duplicate members, no
// escaped surrogates (pairs only where asked for), bounded bytes, depth and numbers; everything else is
// refused with an error that names the place. Writing promises one byte form
// for one value: members sorted bytewise, no white space, plain decimal
// numbers, only the escapes that JSON demands. It does not promise RFC 8785:
// numbers keep all their digits here, and members sort by bytes; the two agree
// where numbers fit a double's integers and names are in the basic plane.
//
// Source: reference rules for plans, payloads and schemas (DESIGN, Libraries).
package canon

import (
	"sort"
	"strconv"
)

// Kind is the type of a JSON value.
type Kind uint8

const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

var kindNames = [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}

// String names the kind with its article, for error texts.
func (k Kind) String() string { return kindNames[k] }

// Limits bounds a parse. A zero field means the default.
type Limits struct {
	Bytes int  // of the text, and of all its numbers in plain decimal; default 4 MiB
	Depth int  // nesting levels, default 64
	Pairs bool // read an escaped surrogate pair as its one character, for bodies that clients encode
}

func (l Limits) bytes() int {
	if l.Bytes == 0 {
		return defaultBytes
	}
	return l.Bytes
}

// Value is one parsed JSON value. The zero Value is null.
type Value struct {
	kind    Kind
	text    string // string content, canonical number, or "true" and "false"
	items   []Value
	members []Member
}

// Member is one name and value of an object.
type Member struct {
	Name  string
	Value Value
}

// Kind returns the value's type.
func (v Value) Kind() Kind { return v.kind }

// Text returns a string's content.
func (v Value) Text() (string, bool) { return v.text, v.kind == String }

// Bool returns a boolean.
func (v Value) Bool() (value, ok bool) { return v.text == "true", v.kind == Bool }

// Int64 returns a number that is an integer within int64.
func (v Value) Int64() (int64, bool) {
	if v.kind != Number {
		return 0, false
	}
	n, err := strconv.ParseInt(v.text, 10, 64)
	return n, err == nil
}

// Items returns an array's elements.
func (v Value) Items() []Value { return v.items }

// Members returns an object's members, sorted by name.
func (v Value) Members() []Member { return v.members }

// Get returns the named member of an object.
func (v Value) Get(name string) (Value, bool) {
	i := sort.Search(len(v.members), func(i int) bool { return v.members[i].Name >= name })
	if i < len(v.members) && v.members[i].Name == name {
		return v.members[i].Value, true
	}
	return Value{}, false
}

// With returns the object with a member added or replaced; v is unchanged.
func (v Value) With(name string, member Value) Value {
	members := make([]Member, 0, len(v.members)+1)
	for _, m := range v.members {
		if m.Name != name {
			members = append(members, m)
		}
	}
	return NewObject(append(members, Member{name, member}))
}

// NewString returns a string value; text must be valid UTF-8.
func NewString(text string) Value { return Value{kind: String, text: text} }

// NewInt returns an integer.
func NewInt(n int64) Value { return Value{kind: Number, text: strconv.FormatInt(n, 10)} }

// NewBool returns a boolean.
func NewBool(b bool) Value { return Value{kind: Bool, text: strconv.FormatBool(b)} }

// NewArray returns an array.
func NewArray(items []Value) Value { return Value{kind: Array, items: items} }

// NewObject returns an object. Names must differ: two equal ones are a broken
// invariant of the caller.
func NewObject(members []Member) Value {
	sort.Slice(members, func(i, j int) bool { return members[i].Name < members[j].Name })
	for i := 1; i < len(members); i++ {
		if members[i].Name == members[i-1].Name {
			panic("canon: object with two members " + members[i].Name)
		}
	}
	return Value{kind: Object, members: members}
}

// Bytes returns the canonical form.
func (v Value) Bytes() []byte { return v.append(nil) }

func (v Value) append(b []byte) []byte {
	switch v.kind {
	case Null:
		return append(b, "null"...)
	case Bool, Number:
		return append(b, v.text...)
	case String:
		return appendString(b, v.text)
	case Array:
		b = append(b, '[')
		for i, item := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.append(b)
		}
		return append(b, ']')
	case Object:
		b = append(b, '{')
		for i, m := range v.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, m.Name), ':')
			b = m.Value.append(b)
		}
		return append(b, '}')
	}
	panic("canon: kind outside its enumeration")
}

func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= 0x20:
			b = append(b, c)
		case c == '\b':
			b = append(b, '\\', 'b')
		case c == '\t':
			b = append(b, '\\', 't')
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\f':
			b = append(b, '\\', 'f')
		case c == '\r':
			b = append(b, '\\', 'r')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(b, '"')
}
