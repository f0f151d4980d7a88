package drift

import (
	"math/rand"
	"strings"

	"world/broker/law"
	"world/coordinator/plan"
	"world/spec/smtlib"
)

// planVerdicts are the model's names of the plan verdicts, at Go's values of them.
var planVerdicts = [...]string{
	plan.Lawful:           "lawful",
	plan.ReservedInPlan:   "reserved-in-plan",
	plan.TooManyEffects:   "too-many-effects",
	plan.BadID:            "bad-id",
	plan.RepeatedID:       "repeated-id",
	plan.PayloadKind:      "payload-kind",
	plan.Undeclared:       "undeclared",
	plan.PayloadSize:      "payload-size",
	plan.ResultMissing:    "result-missing",
	plan.ResultUnwanted:   "result-unwanted",
	plan.ResultShape:      "result-shape",
	plan.FinishAlone:      "finish-alone",
	plan.ReservedInResult: "reserved-in-result",
	plan.OutputKind:       "output-kind",
	plan.ReservedInOutput: "reserved-in-output",
	plan.EffectsInOutput:  "effects-in-output",
}

// ids holds an id to the bytes law and, among others, to being met once.
type ids struct {
	ID     string
	Others []string
}

// triples holds a triple to being declared.
type triples struct {
	Asked    law.Triple
	Declared []law.Triple
}

// planLaws are the plan laws that read facts, and the folds that fill them.
var planLaws = []comparison{
	pairing[plan.Facts, plan.Verdict]{
		title: "plan size", weight: 3, draw: of(planFacts), same: equal[plan.Verdict], goes: plan.JudgeSize,
		model: modelOf(func(f plan.Facts) string { return "(judge-size " + factsTerm(f) + ")" }, readPlanVerdict),
		begin: expectPlan("plan size", plan.Lawful, plan.ReservedInPlan, plan.TooManyEffects),
		grade: gradePlan[plan.Facts]("plan size"),
	},
	pairing[plan.EffectFacts, plan.Verdict]{
		title: "plan effect", weight: 3, draw: of(effectFacts), same: equal[plan.Verdict], goes: plan.JudgeEffect,
		model: modelOf(func(e plan.EffectFacts) string { return "(judge-effect " + effectFactsTerm(e) + ")" }, readPlanVerdict),
		begin: expectPlan("plan effect", plan.Lawful, plan.BadID, plan.PayloadKind, plan.Undeclared, plan.PayloadSize),
		grade: gradePlan[plan.EffectFacts]("plan effect"),
		corner: []boundary[plan.EffectFacts]{
			{"payload of the largest size", func(e plan.EffectFacts) bool { return e.PayloadBytes == plan.MaxPayload && e.Declared }},
			{"payload one byte larger", func(e plan.EffectFacts) bool { return e.PayloadBytes == plan.MaxPayload+1 && e.Declared }},
		},
	},
	pairing[plan.Facts, plan.Verdict]{
		title: "plan result", weight: 3, draw: of(planFacts), same: equal[plan.Verdict], goes: plan.JudgeResult,
		model: modelOf(func(f plan.Facts) string { return "(judge-result " + factsTerm(f) + ")" }, readPlanVerdict),
		begin: expectPlan("plan result", plan.Lawful, plan.ResultShape, plan.ResultMissing, plan.ResultUnwanted, plan.FinishAlone, plan.ReservedInResult),
		grade: gradePlan[plan.Facts]("plan result"),
	},
	pairing[plan.OutputFacts, plan.Verdict]{
		title: "plan output", weight: 3, draw: of(outputFacts), same: equal[plan.Verdict], goes: plan.JudgeOutput,
		model: modelOf(func(o plan.OutputFacts) string {
			return "(judge-output (output-facts " + bools(o.Object, o.Reserved, o.Effects, o.Finish) + "))"
		}, readPlanVerdict),
		begin: expectPlan("plan output", plan.Lawful, plan.OutputKind, plan.ReservedInOutput, plan.EffectsInOutput),
		grade: gradePlan[plan.OutputFacts]("plan output"),
	},
	pairing[ids, [2]bool]{
		title: "plan id", weight: 3, draw: of(drawIDs), same: equal[[2]bool],
		goes: func(in ids) [2]bool {
			effects := make([]plan.EffectFacts, len(in.Others))
			for i, id := range in.Others {
				effects[i].ID = id
			}
			return [2]bool{plan.LawfulID(in.ID), plan.Once(effects, in.ID)}
		},
		model: modelOf(idsTerm, readBools),
		begin: func(t Tally) { t["plan id: lawful"] += 0; t["plan id: met once"] += 0; t["plan id: met twice"] += 0 },
		grade: func(t Tally, in ids, got [2]bool) {
			count(t, "plan id", []boundary[ids]{
				{"lawful", func(ids) bool { return got[0] }},
				{"met once", func(ids) bool { return got[1] }},
				{"met twice", func(in ids) bool { return !got[1] && strings.Count(strings.Join(in.Others, " "), in.ID) > 1 }},
			}, in)
		},
		corner: []boundary[ids]{
			{"no bytes", func(in ids) bool { return in.ID == "" }},
			{"sixteen bytes", func(in ids) bool { return len(in.ID) == 16 && plan.LawfulID(in.ID) }},
			{"seventeen bytes", func(in ids) bool { return len(in.ID) == 17 && plan.LawfulID(in.ID[1:]) }},
			{"a byte beside the alphabet", func(in ids) bool { return strings.ContainsAny(in.ID, "/:`{") }},
		},
	},
	pairing[triples, bool]{
		title: "plan declared", weight: 3, draw: of(drawTriples), same: equal[bool],
		goes:  func(in triples) bool { return plan.Declared(in.Declared, in.Asked) },
		model: modelOf(declaredTerm, readBool),
		corner: []boundary[triples]{
			{"declared", func(in triples) bool { return plan.Declared(in.Declared, in.Asked) }},
			{"all but the cost", func(in triples) bool {
				return len(in.Declared) == 1 && in.Declared[0].Effect == in.Asked.Effect && in.Declared[0].Scope == in.Asked.Scope && in.Declared[0].Cost != in.Asked.Cost
			}},
		},
	},
}

func expectPlan(title string, reachable ...plan.Verdict) func(Tally) {
	return func(t Tally) {
		for _, v := range reachable {
			t[title+": "+planVerdicts[v]] += 0
		}
	}
}

func gradePlan[In any](title string) func(Tally, In, plan.Verdict) {
	return func(t Tally, _ In, v plan.Verdict) { t[title+": "+planVerdicts[v]]++ }
}

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

func coin(r *rand.Rand) bool { return r.Intn(2) == 0 }

// rarely is true once in n, for what makes every later check unreached.
func rarely(r *rand.Rand, n int) bool { return r.Intn(n) == 0 }

func planFacts(r *rand.Rand) plan.Facts {
	f := plan.Facts{Reserved: rarely(r, 4), Effects: r.Intn(3), Finish: coin(r), ResultNull: coin(r), ResultReserved: rarely(r, 3)}
	f.ResultObject = !f.ResultNull && !rarely(r, 6)
	if rarely(r, 4) {
		f.Effects = int(number(r, 1))
		f.ResultObject = coin(r)
	}
	return f
}

func effectFacts(r *rand.Rand) plan.EffectFacts {
	return plan.EffectFacts{
		ID: drawID(r), Declared: !rarely(r, 4), PayloadObject: !rarely(r, 4), PayloadBytes: int(number(r, plan.MaxPayload)),
	}
}

func outputFacts(r *rand.Rand) plan.OutputFacts {
	return plan.OutputFacts{Object: !rarely(r, 4), Reserved: rarely(r, 4), Effects: coin(r), Finish: coin(r)}
}

// drawID draws an id that is lawful half of the time, up to one byte too long.
func drawID(r *rand.Rand) string {
	const good, near = "abmz0189", "/:`{AZ\x00\xff \u00e9"
	id := make([]byte, []int{0, 1, 2, 5, 15, 16, 17}[r.Intn(7)])
	for i := range id {
		id[i] = good[r.Intn(len(good))]
	}
	if len(id) > 0 && rarely(r, 3) {
		id[r.Intn(len(id))] = near[r.Intn(len(near))]
	}
	return string(id)
}

func drawIDs(r *rand.Rand) ids {
	in := ids{ID: drawID(r)}
	for range r.Intn(4) {
		other := in.ID
		if coin(r) {
			other = drawID(r)
		}
		in.Others = append(in.Others, other)
	}
	return in
}

func drawTriples(r *rand.Rand) triples {
	draw := func() law.Triple {
		return law.Triple{Effect: pick(r, effects[:2]), Scope: pick(r, scopes[:2]), Cost: int64(r.Intn(2))}
	}
	in := triples{Asked: draw()}
	for range r.Intn(4) {
		in.Declared = append(in.Declared, draw())
	}
	return in
}
