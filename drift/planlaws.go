package drift

import (
	"strings"

	"world/broker/law"
	"world/coordinator/plan"
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
		title: "plan size", weight: 3, draw: of(planFacts), goes: plan.JudgeSize,
		model: modelOf(func(f plan.Facts) string { return "(judge-size " + factsTerm(f) + ")" }, readPlanVerdict),
		begin: expectPlan("plan size", plan.Lawful, plan.ReservedInPlan, plan.TooManyEffects),
		grade: gradePlan[plan.Facts]("plan size"),
	},
	pairing[plan.EffectFacts, plan.Verdict]{
		title: "plan effect", weight: 3, draw: of(effectFacts), goes: plan.JudgeEffect,
		model: modelOf(func(e plan.EffectFacts) string { return "(judge-effect " + effectFactsTerm(e) + ")" }, readPlanVerdict),
		begin: expectPlan("plan effect", plan.Lawful, plan.BadID, plan.PayloadKind, plan.Undeclared, plan.PayloadSize),
		grade: gradePlan[plan.EffectFacts]("plan effect"),
		corner: []boundary[plan.EffectFacts]{
			{"payload of the largest size", func(e plan.EffectFacts) bool { return e.PayloadBytes == plan.MaxPayload && e.Declared }},
			{"payload one byte larger", func(e plan.EffectFacts) bool { return e.PayloadBytes == plan.MaxPayload+1 && e.Declared }},
		},
	},
	pairing[plan.Facts, plan.Verdict]{
		title: "plan result", weight: 3, draw: of(planFacts), goes: plan.JudgeResult,
		model: modelOf(func(f plan.Facts) string { return "(judge-result " + factsTerm(f) + ")" }, readPlanVerdict),
		begin: expectPlan("plan result", plan.Lawful, plan.ResultShape, plan.ResultMissing, plan.ResultUnwanted, plan.FinishAlone, plan.ReservedInResult),
		grade: gradePlan[plan.Facts]("plan result"),
	},
	pairing[plan.OutputFacts, plan.Verdict]{
		title: "plan output", weight: 3, draw: of(outputFacts), goes: plan.JudgeOutput,
		model: modelOf(func(o plan.OutputFacts) string {
			return "(judge-output (output-facts " + bools(o.Object, o.Reserved, o.Effects, o.Finish) + "))"
		}, readPlanVerdict),
		begin: expectPlan("plan output", plan.Lawful, plan.OutputKind, plan.ReservedInOutput, plan.EffectsInOutput),
		grade: gradePlan[plan.OutputFacts]("plan output"),
	},
	pairing[ids, [2]bool]{
		title: "plan id", weight: 3, draw: of(drawIDs),
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
		title: "plan declared", weight: 3, draw: of(drawTriples),
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
