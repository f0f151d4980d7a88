package ssasmt

import (
	"fmt"
	"go/constant"
	"go/types"
	"strings"
)

// SMT sorts of the basic types.
const (
	Int  = "(_ BitVec 64)" // int and int64
	Byte = "(_ BitVec 8)"  // byte
	Bool = "Bool"
	Text = "Text" // string; the script that includes the unit declares it
)

// sorts maps Go types to SMT sorts and collects their declarations.
type sorts struct {
	root     *types.Package
	declared map[string]bool
	decls    []string
	structs  []Struct
}

// of returns the SMT sort of a Go type, or what about the type is outside the subset.
func (s *sorts) of(t types.Type) (sort string, refused string) {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch u.Kind() {
		case types.Int, types.Int64:
			return Int, ""
		case types.Uint8:
			return Byte, ""
		case types.Bool, types.UntypedBool:
			return Bool, ""
		case types.String, types.UntypedString:
			return Text, ""
		}
	case *types.Struct:
		return s.structure(t, u)
	}
	return "", "type " + types.TypeString(t, types.RelativeTo(s.root))
}

// structure declares a named struct as a datatype with one constructor.
func (s *sorts) structure(t types.Type, u *types.Struct) (string, string) {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.TypeArgs().Len() > 0 {
		return "", "type " + types.TypeString(t, types.RelativeTo(s.root))
	}
	name := s.symbol(named.Obj())
	if s.declared[name] {
		return name, ""
	}
	var fields []string
	known := Struct{Name: named.Obj().Name(), Sort: name}
	for i := range u.NumFields() {
		f := u.Field(i)
		if f.Name() == "_" {
			return "", "a blank field"
		}
		sort, refused := s.of(f.Type())
		if refused != "" {
			return "", "field " + f.Name() + " of " + refused
		}
		fields = append(fields, fmt.Sprintf("(%s.%s %s)", name, f.Name(), sort))
		known.Fields = append(known.Fields, Param{Symbol: f.Name(), Sort: sort})
	}
	s.structs = append(s.structs, known)
	s.declared[name] = true
	s.decls = append(s.decls, fmt.Sprintf("(declare-datatypes ((%s 0)) (((%s.make %s))))", name, name, strings.Join(fields, " ")))
	return name, ""
}

// list returns the sort of a slice of elements and the function of its length.
func (s *sorts) list(elem string) (sort, length string) {
	short := strings.NewReplacer("(_ BitVec 64)", "int", "(_ BitVec 8)", "byte").Replace(elem)
	sort, length = "go.list."+short, "go.len."+short
	if !s.declared[sort] {
		s.declared[sort] = true
		s.decls = append(s.decls,
			fmt.Sprintf("(declare-sort %s 0)", sort),
			fmt.Sprintf("(declare-fun %s.63 (%s) (_ BitVec 63))", length, sort),
			fmt.Sprintf("(define-fun %s ((s %s)) %s (concat #b0 (%s.63 s)))", length, sort, Int, length))
	}
	return sort, length
}

// symbol returns the SMT name of a type; types of other packages carry theirs.
func (s *sorts) symbol(o types.Object) string {
	if o.Pkg() == nil || o.Pkg() == s.root {
		return Symbol(o.Name())
	}
	return Symbol(o.Pkg().Name() + "." + o.Name())
}

// zero returns the zero value of a type whose sort is known.
func (tr *translator) zero(t types.Type) *term {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		sort, _ := tr.sorts.of(t)
		var fields []*term
		for i := range u.NumFields() {
			fields = append(fields, tr.zero(u.Field(i).Type()))
		}
		return tr.terms.make(sort+".make", fields...)
	case *types.Basic:
		switch u.Kind() {
		case types.Bool, types.UntypedBool:
			return tr.terms.no
		case types.String, types.UntypedString:
			return tr.literal("")
		case types.Uint8:
			return tr.terms.make("#x00")
		}
	}
	return tr.number(0)
}

// constant returns a Go constant of a type whose sort is known.
func (tr *translator) constant(t types.Type, v constant.Value) *term {
	if v == nil {
		return tr.zero(t)
	}
	switch v.Kind() {
	case constant.Bool:
		if constant.BoolVal(v) {
			return tr.terms.yes
		}
		return tr.terms.no
	case constant.String:
		return tr.literal(constant.StringVal(v))
	}
	n, _ := constant.Int64Val(constant.ToInt(v))
	if sort, _ := tr.sorts.of(t); sort == Byte {
		return tr.terms.make(fmt.Sprintf("#x%02x", uint8(n)))
	}
	return tr.number(n)
}

func (tr *translator) number(n int64) *term {
	return tr.terms.make(fmt.Sprintf("#x%016x", uint64(n)))
}

// literal returns a Go string constant as (go.text "…"), and notes it.
func (tr *translator) literal(s string) *term {
	if !tr.literals[s] {
		tr.literals[s] = true
		tr.unit.Literals = append(tr.unit.Literals, s)
	}
	return tr.terms.make("go.text", tr.terms.make(Quote(s)))
}

// Quote writes Go bytes as an SMT-LIB string of one character a byte.
func Quote(s string) string {
	var out strings.Builder
	out.WriteByte('"')
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c > 0x7e || c == '"' || c == '\\' {
			fmt.Fprintf(&out, "\\u{%x}", c)
		} else {
			out.WriteByte(c)
		}
	}
	out.WriteByte('"')
	return out.String()
}
