package drift

import (
	"strings"

	"world/broker/law"
	"world/coordinator/plan"
	"world/spec/smtlib"
)

func modelOf[In, Out any](term func(In) string, read func(smtlib.Node) (Out, bool)) func(*Model, []In) ([]Out, error) {
	return func(m *Model, inputs []In) ([]Out, error) { return evaluate(m, inputs, term, read) }
}

func readPlanVerdict(n smtlib.Node) (plan.Verdict, bool) {
	for i, name := range planVerdicts {
		if n.Is(name) {
			return plan.Verdict(i), true
		}
	}
	return 0, false
}

func factsTerm(f plan.Facts) string {
	return "(facts " + bools(f.Reserved) + " " + num(int64(f.Effects)) + " " + bools(f.Finish, f.ResultNull, f.ResultObject, f.ResultReserved) + ")"
}

// effectFactsTerm lets the model's own id law say whether the id is lawful.
func effectFactsTerm(e plan.EffectFacts) string {
	return "(effect-facts " + idTerm(e.ID) + " " + bools(e.Declared, e.PayloadObject) + " " + num(int64(e.PayloadBytes)) + ")"
}

func idTerm(id string) string {
	lawful := "true"
	for i := range len(id) {
		lawful = "(id-next " + lawful + " " + octet(id[i]) + ")"
	}
	return "(and (id-length " + num(int64(len(id))) + ") " + lawful + ")"
}

// idsTerm answers two questions with one of four texts, to be one term.
func idsTerm(in ids) string {
	met := "zero"
	for _, other := range in.Others {
		met = "(met-next " + met + " " + smtlib.Quote(other) + " " + smtlib.Quote(in.ID) + ")"
	}
	return `(str.++ (ite ` + idTerm(in.ID) + ` "1" "0") (ite (met-once ` + met + `) "1" "0"))`
}

func declaredTerm(in triples) string {
	found := "false"
	for _, d := range in.Declared {
		found = "(declared-next " + found + " " + tripleTerm(d) + " " + tripleTerm(in.Asked) + ")"
	}
	return found
}

func tripleTerm(t law.Triple) string {
	return "(triple " + smtlib.Quote(string(t.Effect)) + " " + smtlib.Quote(string(t.Scope)) + " " + num(t.Cost) + ")"
}

func readBool(n smtlib.Node) (bool, bool) { return n.Is("true"), n.Is("true") || n.Is("false") }

func readBools(n smtlib.Node) ([2]bool, bool) {
	text := n.Text()
	if len(text) != 2 {
		return [2]bool{}, false
	}
	return [2]bool{text[0] == '1', text[1] == '1'}, true
}

func bools(bs ...bool) string {
	words := make([]string, len(bs))
	for i, b := range bs {
		words[i] = "false"
		if b {
			words[i] = "true"
		}
	}
	return strings.Join(words, " ")
}

func octet(c byte) string {
	const hex = "0123456789abcdef"
	return "#x" + string([]byte{hex[c>>4], hex[c&15]})
}
