package ssasmt_test

import (
	"fmt"
	"math/rand"
	"strings"
)

// programs writes random Go functions of the subset. Every expression that
// could be folded by the compiler has a variable in it, so that the generated
// text always compiles.
type programs struct {
	*rand.Rand
	out     strings.Builder
	vars    map[string][]string // readable variables by type
	mutable []string            // of those, the ones that may be assigned, as "name type"
	plain   []string            // result types of the plain functions so far
	result  string
	calls   bool
	callees int // how many of the plain functions may be called now
	fresh   int
}

const programHead = `package sample

type Name string

type Pair struct {
	A int64
	B byte
	C Name
	D bool
}

type Nest struct {
	P Pair
	N int
}

`

var types = []string{"int64", "int", "byte", "bool", "Name", "Pair", "Nest"}

// params are those of every plain function; loops take a list or text as well.
const params = "a, b int64, n int, c byte, d bool, s Name, p Pair, q Nest"

var literals = map[string][]string{
	"int64": {"0", "1", "-1", "2", "9223372036854775807", "-9223372036854775808", "7"},
	"int":   {"0", "1", "-1", "3", "9223372036854775807"},
	"byte":  {"0", "1", "'a'", "'z'", "127", "128", "255"},
	"bool":  {"true", "false"},
	"Name":  {`""`, `"a"`, `"world"`, `"\x00\xff"`, `"a\"b\\"`},
	"Pair":  {"Pair{}", `Pair{A: 7, C: "a"}`},
	"Nest":  {"Nest{}", "Nest{P: Pair{B: 255, D: true}, N: 3}"},
}

func (g *programs) pick(from []string) string { return from[g.Intn(len(from))] }

// expr returns an expression of the type; any may be a literal.
func (g *programs) expr(t string, depth int) string {
	if g.Intn(4) == 0 {
		return g.pick(literals[t])
	}
	return g.open(t, depth)
}

// open returns an expression that is not constant.
func (g *programs) open(t string, depth int) string {
	if depth <= 0 {
		return g.pick(g.vars[t])
	}
	choice := g.Intn(6)
	if choice == 0 {
		return g.pick(g.vars[t])
	}
	if choice == 1 && g.callees > 0 {
		for range 4 {
			if i := g.Intn(g.callees); g.plain[i] == t {
				return g.call(i)
			}
		}
	}
	switch t {
	case "int64", "int":
		switch g.Intn(7) {
		case 0:
			return "-" + g.pick(g.vars[t])
		case 1:
			return t + "(" + g.open("byte", depth-1) + ")"
		case 2:
			return t + "(" + g.open(map[string]string{"int": "int64", "int64": "int"}[t], depth-1) + ")"
		case 3:
			return t + "(len(" + g.open("Name", depth-1) + "))"
		}
		return "(" + g.open(t, depth-1) + g.pick([]string{" + ", " - ", " * "}) + g.expr(t, depth-1) + ")"
	case "byte":
		switch g.Intn(4) {
		case 0:
			return "byte(" + g.open("int64", depth-1) + ")"
		case 1:
			return g.pick(g.vars["Name"]) + "[" + g.pick([]string{"0", "1", "n", "c", "len(s) - 1"}) + "]"
		}
		return "(" + g.open(t, depth-1) + g.pick([]string{" + ", " - ", " * "}) + g.expr(t, depth-1) + ")"
	case "bool":
		switch g.Intn(5) {
		case 0:
			return "!" + g.open(t, depth-1)
		case 1:
			return "(" + g.open(t, depth-1) + g.pick([]string{" && ", " || ", " == ", " != "}) + g.open(t, depth-1) + ")"
		case 2:
			of := g.pick(types)
			return "(" + g.open(of, depth-1) + g.pick([]string{" == ", " != "}) + g.open(of, depth-1) + ")"
		}
		of := g.pick([]string{"int64", "int", "byte"})
		return "(" + g.open(of, depth-1) + g.pick([]string{" < ", " <= ", " > ", " >= "}) + g.expr(of, depth-1) + ")"
	case "Pair":
		return fmt.Sprintf("Pair{A: %s, B: %s, C: %s, D: %s}",
			g.expr("int64", depth-2), g.expr("byte", depth-2), g.expr("Name", depth-2), g.open("bool", depth-2))
	case "Nest":
		return fmt.Sprintf("Nest{N: %s, P: %s}", g.expr("int", depth-2), g.open("Pair", depth-2))
	}
	return g.pick(g.vars[t])
}

// call returns a call of the plain function i.
func (g *programs) call(i int) string {
	var args []string
	for _, t := range []string{"int64", "int64", "int", "byte", "bool", "Name", "Pair", "Nest"} {
		args = append(args, g.expr(t, 0))
	}
	return fmt.Sprintf("F%d(%s)", i, strings.Join(args, ", "))
}

// statements writes up to n statements; leave is how a loop body ends early.
func (g *programs) statements(n, depth int, leave []string) {
	for range g.Intn(n) + 1 {
		indent := strings.Repeat("\t", 1)
		switch k := g.Intn(12); {
		case k < 4:
			target := strings.Fields(g.pick(g.mutable))
			fmt.Fprintf(&g.out, "%s%s = %s\n", indent, target[0], g.expr(target[1], 2))
		case k < 6:
			fmt.Fprintf(&g.out, "%sif %s {\n\t\treturn %s\n\t}\n", indent, g.open("bool", 2), g.expr(g.result, 2))
		case k < 9 && depth > 0:
			fmt.Fprintf(&g.out, "%sif %s {\n", indent, g.open("bool", 2))
			g.statements(n-1, depth-1, leave)
			g.out.WriteString("} else {\n")
			g.statements(n-1, depth-1, leave)
			g.out.WriteString("}\n")
		case k == 9 && depth > 0:
			fmt.Fprintf(&g.out, "switch %s {\ncase 0, 7:\n", g.open("int64", 1))
			g.statements(n-1, 0, leave)
			g.out.WriteString("case -1:\n")
			g.statements(n-1, 0, leave)
			g.out.WriteString("}\n")
		case k == 10 && g.Intn(3) == 0:
			fmt.Fprintf(&g.out, "if %s { panic(\"sample\") }\n", g.open("bool", 2))
		case k == 11 && len(leave) > 0:
			fmt.Fprintf(&g.out, "if %s { %s }\n", g.open("bool", 2), g.pick(leave))
		default:
			g.fresh++
			t := g.pick(types)
			fmt.Fprintf(&g.out, "v%d := %s(%s); _ = v%d\n", g.fresh, t, g.expr(t, 2), g.fresh)
		}
	}
}

// begin resets what a function can see.
func (g *programs) begin(result string) {
	g.result = result
	g.callees = 0
	if g.calls {
		g.callees = min(len(g.plain)/6*6, 12) // two levels
	}
	g.vars = map[string][]string{
		"int64": {"a", "b", "p.A", "q.P.A"}, "int": {"n", "q.N"}, "byte": {"c", "p.B", "q.P.B"},
		"bool": {"d", "p.D", "q.P.D"}, "Name": {"s", "p.C", "q.P.C"}, "Pair": {"p", "q.P"}, "Nest": {"q"},
	}
	g.mutable = []string{"a int64", "b int64", "n int", "c byte", "d bool", "s Name", "p Pair", "q Nest",
		"p.A int64", "p.C Name", "q.P.B byte", "q.P Pair", "q.N int"}
}

// plainFunc writes the next function without a loop.
func (g *programs) plainFunc() {
	g.begin(g.pick(types))
	fmt.Fprintf(&g.out, "func F%d(%s) %s {\n", len(g.plain), params, g.result)
	g.statements(4, 2, nil)
	fmt.Fprintf(&g.out, "\treturn %s\n}\n\n", g.open(g.result, 2))
	g.plain = append(g.plain, g.result)
}

// loopFunc writes a function with a loop over a list of pairs or over a text.
func (g *programs) loopFunc(i int, list bool) (result string) {
	g.begin(g.pick(types))
	over, elem, binds := "text Name", "text[i]", "byte"
	if list {
		over, elem, binds = "pairs []Pair", "pairs[i]", "Pair"
	}
	fmt.Fprintf(&g.out, "func L%d(%s, %s) %s {\n", i, over, params, g.result)
	g.statements(2, 1, nil)
	switch {
	case list && g.Intn(3) == 0:
		g.out.WriteString("for i, e := range pairs {\n_ = e\n")
		elem = "e"
	case list && g.Intn(2) == 0:
		g.out.WriteString("for i := range pairs {\ne := &pairs[i]\n")
		elem = "(*e)"
	case list:
		g.out.WriteString("for i := 0; i < len(pairs); i++ {\n")
	default:
		g.out.WriteString("for i := 0; i " + g.pick([]string{"<", "!="}) + " len(text); i++ {\n")
	}
	g.out.WriteString("_ = i\n_ = " + elem + "\n")
	outer := g.vars
	g.vars = map[string][]string{}
	for t, names := range outer {
		g.vars[t] = append([]string{}, names...)
	}
	g.vars["int"] = append(g.vars["int"], "i", "i")
	g.vars[binds] = append(g.vars[binds], elem, elem, elem)
	if list {
		g.vars["int64"] = append(g.vars["int64"], elem+".A", elem+".A")
	}
	g.statements(4, 2, []string{"break", "continue", "return " + g.expr(g.result, 1)})
	g.vars = outer
	g.out.WriteString("}\n")
	g.statements(2, 1, nil)
	fmt.Fprintf(&g.out, "\treturn %s\n}\n\n", g.open(g.result, 2))
	return g.result
}
