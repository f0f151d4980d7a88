package drift

import "world/broker/law"

// labelled is a verdict with its label, so that labels are compared too.
type labelled struct {
	law.Decision
	Label string
}

// decisionLaws are those of broker/law.
var decisionLaws = []comparison{
	pairing[Case, labelled]{
		title: "decide", weight: 21, draw: of(decisionCase), corner: caseBoundaries,
		goes: func(c Case) labelled { d := decide(c); return labelled{d, d.Verdict.Label()} },
		model: func(m *Model, cases []Case) ([]labelled, error) {
			ds, err := m.Decide(cases)
			out := make([]labelled, len(ds))
			for i, d := range ds {
				out[i] = labelled{d, m.Label(d.Verdict)}
			}
			return out, err
		},
		begin: func(t Tally) { expectVerdicts(t, "decide") },
		grade: func(t Tally, _ Case, d labelled) { t[verdictName("decide", int(d.Verdict))]++ },
	},
	pairing[Pair, law.Verdict]{
		title: "judge", weight: 33, draw: of(pair), corner: pairBoundaries,
		goes:  func(p Pair) law.Verdict { return law.Judge(p.Grant, p.Request) },
		model: (*Model).Judge,
		begin: func(t Tally) { expectVerdicts(t, "judge") },
		grade: func(t Tally, _ Pair, v law.Verdict) { t[verdictName("judge", int(v))]++ },
	},
	pairing[Pair, law.Grant]{
		title: "debit", weight: 5, draw: of(plainPair),
		goes:  func(p Pair) law.Grant { return law.Debit(p.Grant, p.Request) },
		model: (*Model).Debit,
		begin: func(t Tally) { expectVerdicts(t, "debit") },
		grade: func(t Tally, p Pair, _ law.Grant) { t[verdictName("debit", int(law.Judge(p.Grant, p.Request)))]++ },
	},
	pairing[Two, int64]{
		title: "seed", weight: 8, draw: of(two), corner: seedBoundaries,
		goes:  func(t Two) int64 { return law.Seed(t.A, t.B) },
		model: (*Model).Seed,
	},
	pairing[Two, int64]{
		title: "plus", weight: 8, draw: of(two), corner: plusBoundaries,
		goes:  func(t Two) int64 { return law.Plus(t.A, t.B) },
		model: (*Model).Plus,
	},
}
