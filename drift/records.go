package drift

import (
	"math/rand"
	"strings"

	"world/broker/law"
	"world/spec/smtlib"
	"world/store"
	"world/store/record"
)

var aRef = store.Ref("sha256:" + strings.Repeat("5", 64))

// made is a decision over one grant and how its effect ended.
type made struct {
	Pair
	OK bool
}

// recordLaws are the law of the effect record and what is recorded of a decision.
var recordLaws = []comparison{
	pairing[record.EffectRecord, bool]{
		title: "record", weight: 4, draw: of(drawRecord),
		goes: func(r record.EffectRecord) bool { return r.Check() == nil },
		model: modelOf(func(r record.EffectRecord) string {
			return "(not (= (arm " + recordTerm(r) + ") unlawful))"
		}, readBool),
		corner: []boundary[record.EffectRecord]{
			{"denied", func(r record.EffectRecord) bool { return r.Check() == nil && !r.Allowed }},
			{"succeeded", func(r record.EffectRecord) bool { return r.Check() == nil && r.Allowed && !r.Failed }},
			{"failed", func(r record.EffectRecord) bool { return r.Check() == nil && r.Failed }},
			{"failed but not allowed", func(r record.EffectRecord) bool { return r.Failed && !r.Allowed }},
			{"a debit off by one", func(r record.EffectRecord) bool { return r.Allowed && r.BudgetAfter == r.BudgetBefore-r.Cost+1 }},
			{"a cost above the budget", func(r record.EffectRecord) bool { return r.Allowed && r.Cost > r.BudgetBefore }},
			{"a negative cost", func(r record.EffectRecord) bool { return r.Allowed && r.Cost < 0 }},
		},
	},
	pairing[made, recordFacts]{
		title: "record of a decision", weight: 3, draw: of(drawMade),
		goes: func(m made) recordFacts { return factsOf(recorded(m)) },
		model: modelOf(func(m made) string {
			r := requestTerm(m.Request)
			single := "(single zero " + grantTerm(m.Grant) + " " + r + ")"
			return "(ite (visible " + single + ") (record-run " + single + " " + r + " " + bools(m.OK) + ") (record-denied (further nobody " + single + ") " + r + "))"
		}, readRecord),
		corner: []boundary[made]{
			{"denied", func(m made) bool { return !recorded(m).Allowed }},
			{"succeeded", func(m made) bool { return recorded(m).Allowed && m.OK }},
			{"failed", func(m made) bool { return recorded(m).Failed }},
		},
	},
}

func recorded(m made) record.EffectRecord {
	q := record.EffectRequest{Effect: m.Request.Effect, Scope: m.Request.Scope, Cost: m.Request.Cost, Now: m.Request.Now}
	d := law.Decide([]law.Grant{m.Grant}, m.Request)
	switch {
	case d.Verdict != law.Allowed:
		return record.DeniedEffect(q, d, aRef)
	case m.OK:
		return record.RunEffect(q, d, aRef, aRef)
	}
	return record.RunEffect(q, d, aRef, "")
}

// recordFacts is a record as the model sees it: texts are only what they count as.
type recordFacts struct {
	Cost, Before, After int64
	Allowed, Failed     bool
	Denial, Result      string // constructors of the model
}

func factsOf(r record.EffectRecord) recordFacts {
	f := recordFacts{r.Cost, r.BudgetBefore, r.BudgetAfter, r.Allowed, r.Failed, "other-text", "other-result"}
	switch {
	case r.Denial == "":
		f.Denial = "no-denial"
	case strings.HasPrefix(r.Denial, "denied:"):
		f.Denial = "denial-label"
	}
	if r.ResultRef == "" {
		f.Result = "no-result"
	} else if _, err := store.ParseRef(string(r.ResultRef)); err == nil {
		f.Result = "a-ref"
	}
	return f
}

func recordTerm(r record.EffectRecord) string {
	f := factsOf(r)
	return "(effect-record " + num(f.Cost) + " " + num(f.Before) + " " + num(f.After) + " " +
		bools(f.Allowed, f.Failed) + " " + f.Denial + " " + f.Result + ")"
}

func readRecord(n smtlib.Node) (recordFacts, bool) {
	if n.Head() != "effect-record" || len(n.List) != 8 {
		return recordFacts{}, false
	}
	cost, ok1 := readNum(n.List[1])
	before, ok2 := readNum(n.List[2])
	after, ok3 := readNum(n.List[3])
	allowed, ok4 := readBool(n.List[4])
	failed, ok5 := readBool(n.List[5])
	return recordFacts{cost, before, after, allowed, failed, n.List[6].Atom, n.List[7].Atom}, ok1 && ok2 && ok3 && ok4 && ok5
}

// drawRecord draws a record that is often lawful but for one thing.
func drawRecord(r *rand.Rand) record.EffectRecord {
	x := record.EffectRecord{
		Effect: pick(r, effects), Scope: pick(r, scopes), RequestRef: aRef,
		Cost: number(r, 1), BudgetBefore: number(r, 3), Allowed: !rarely(r, 3),
	}
	x.BudgetAfter = x.BudgetBefore
	if x.Allowed {
		x.BudgetAfter -= x.Cost
		x.Failed = coin(r)
		if !x.Failed {
			x.ResultRef = aRef
		}
	} else {
		x.Denial = law.Verdict(r.Intn(len(verdicts) - 1)).Label()
	}
	switch r.Intn(8) {
	case 0:
		x.BudgetAfter += int64(r.Intn(3)) - 1
	case 1:
		x.Failed = !x.Failed
	case 2:
		x.Denial = pick(r, []string{"", "denied:", "denied:scope", "refused", "Denied:scope"})
	case 3:
		x.ResultRef = pick(r, []store.Ref{"", aRef, "sha256:5", "sha512:" + aRef[7:]})
	case 4:
		x.Allowed = !x.Allowed
	}
	return x
}

func drawMade(r *rand.Rand) made { return made{pair(r), coin(r)} }
