package canon

import (
	"sort"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"world/fault"
)

const (
	defaultBytes = 4 << 20
	defaultDepth = 64
)

// Parse reads exactly one JSON value. Errors are kind Invalid, or Limit for size and depth.
func Parse(raw []byte, limits Limits) (Value, error) {
	limits.Bytes = limits.bytes()
	if limits.Depth == 0 {
		limits.Depth = defaultDepth
	}
	if len(raw) > limits.Bytes {
		return Value{}, fault.New(op, fault.Limit, "%d bytes; the limit is %d", len(raw), limits.Bytes)
	}
	if !utf8.Valid(raw) {
		return Value{}, fault.New(op, fault.Invalid, "not valid UTF-8")
	}
	p := parser{raw: raw, depth: limits.Depth, pairs: limits.Pairs, room: limits.Bytes}
	v, err := p.value()
	if err != nil {
		return Value{}, err
	}
	p.space()
	if p.at != len(raw) {
		return Value{}, p.bad("data after the JSON value")
	}
	return v, nil
}

// Canonical parses raw and returns its canonical form.
func Canonical(raw []byte, limits Limits) ([]byte, error) {
	v, err := Parse(raw, limits)
	if err != nil {
		return nil, err
	}
	return v.Bytes(), nil
}

const op = "canon: parse"

type parser struct {
	raw   []byte
	at    int
	depth int
	pairs bool
	room  int // bytes left for numbers in plain decimal text
}

func (p *parser) bad(what string) error {
	return fault.New(op, fault.Invalid, "%s at byte %d", what, p.at)
}

func (p *parser) space() {
	for p.at < len(p.raw) {
		switch p.raw[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// take consumes the byte c if it is next.
func (p *parser) take(c byte) bool {
	if p.at < len(p.raw) && p.raw[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) value() (Value, error) {
	p.space()
	if p.at == len(p.raw) {
		return Value{}, p.bad("a JSON value is missing")
	}
	switch c := p.raw[p.at]; c {
	case '{':
		return p.nested(p.object)
	case '[':
		return p.nested(p.array)
	case '"':
		s, err := p.text()
		return NewString(s), err
	case 't':
		return p.literal("true", NewBool(true))
	case 'f':
		return p.literal("false", NewBool(false))
	case 'n':
		return p.literal("null", Value{})
	default:
		return p.number()
	}
}

func (p *parser) nested(read func() (Value, error)) (Value, error) {
	if p.depth == 0 {
		return Value{}, fault.New(op, fault.Limit, "nested too deep at byte %d", p.at)
	}
	p.depth--
	p.at++
	v, err := read()
	p.depth++
	return v, err
}

func (p *parser) literal(word string, v Value) (Value, error) {
	if len(p.raw)-p.at < len(word) || string(p.raw[p.at:p.at+len(word)]) != word {
		return Value{}, p.bad("not a JSON value")
	}
	p.at += len(word)
	return v, nil
}

func (p *parser) array() (Value, error) {
	items := []Value{}
	p.space()
	if p.take(']') {
		return NewArray(items), nil
	}
	for {
		v, err := p.value()
		if err != nil {
			return Value{}, err
		}
		items = append(items, v)
		p.space()
		if p.take(']') {
			return NewArray(items), nil
		}
		if !p.take(',') {
			return Value{}, p.bad("expected , or ]")
		}
	}
}

func (p *parser) object() (Value, error) {
	members := []Member{}
	p.space()
	if p.take('}') {
		return Value{kind: Object, members: members}, nil
	}
	for {
		p.space()
		name, err := p.text()
		if err != nil {
			return Value{}, err
		}
		p.space()
		if !p.take(':') {
			return Value{}, p.bad("expected :")
		}
		v, err := p.value()
		if err != nil {
			return Value{}, err
		}
		members = append(members, Member{name, v})
		p.space()
		if p.take('}') {
			return p.unique(members)
		}
		if !p.take(',') {
			return Value{}, p.bad("expected , or }")
		}
	}
}

// unique sorts members and refuses two of one name.
func (p *parser) unique(members []Member) (Value, error) {
	sort.SliceStable(members, func(i, j int) bool { return members[i].Name < members[j].Name })
	for i := 1; i < len(members); i++ {
		if members[i].Name == members[i-1].Name {
			return Value{}, p.bad("duplicate member " + strconv.QuoteToASCII(clip(members[i].Name)) + " in the object ending")
		}
	}
	return Value{kind: Object, members: members}, nil
}

// clip keeps a hostile name from filling an error text.
func clip(s string) string {
	if len(s) > 64 {
		return s[:64] + "…"
	}
	return s
}

func (p *parser) text() (string, error) {
	if !p.take('"') {
		return "", p.bad("expected a string")
	}
	start := p.at
	var out []byte
	for p.at < len(p.raw) {
		switch c := p.raw[p.at]; {
		case c == '"':
			out = append(out, p.raw[start:p.at]...)
			p.at++
			return string(out), nil
		case c < 0x20:
			return "", p.bad("control character in a string")
		case c == '\\':
			out = append(out, p.raw[start:p.at]...)
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, r)
			start = p.at
		default:
			p.at++
		}
	}
	return "", p.bad("unterminated string")
}

func (p *parser) escape() (rune, error) {
	if p.at+1 >= len(p.raw) {
		return 0, p.bad("unterminated escape")
	}
	c := p.raw[p.at+1]
	if c == 'u' {
		return p.unicode()
	}
	const names, values = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	for i := 0; i < len(names); i++ {
		if names[i] == c {
			p.at += 2
			return rune(values[i]), nil
		}
	}
	return 0, p.bad("unknown escape")
}

// unicode reads \u with its four digits, or two of them that make one character.
func (p *parser) unicode() (rune, error) {
	unit, err := p.unit()
	if err != nil || !utf16.IsSurrogate(unit) {
		return unit, err
	}
	if p.pairs && p.at+1 < len(p.raw) && p.raw[p.at] == '\\' && p.raw[p.at+1] == 'u' {
		low, err := p.unit()
		if r := utf16.DecodeRune(unit, low); err != nil || r != utf8.RuneError {
			return r, err
		}
	}
	return 0, p.bad("escaped surrogate ending")
}

// unit consumes one \u with its four digits.
func (p *parser) unit() (rune, error) {
	if p.at+6 > len(p.raw) {
		return 0, p.bad("unterminated escape")
	}
	n, err := strconv.ParseUint(string(p.raw[p.at+2:p.at+6]), 16, 16)
	if err != nil {
		return 0, p.bad("escape is not four hex digits")
	}
	p.at += 6
	return rune(n), nil
}
