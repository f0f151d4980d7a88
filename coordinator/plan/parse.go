package plan

import (
	"strconv"
	"strings"

	"world/broker/law"
	"world/canon"
	"world/fault"
	"world/store/record"
)

// MaxAnswer is the largest answer of a transition, in bytes, before it is parsed.
const MaxAnswer = 4 << 20

// Plan is a plan that has passed the plan laws.
type Plan struct {
	Bytes   []byte   // canonical
	Effects []Effect // at most MaxEffects
	Finish  bool     // the transition wants to see the results
	Result  canon.Value
}

// Effect is one planned effect.
type Effect struct {
	ID      string
	Triple  law.Triple
	Payload []byte // canonical JSON object
}

// Parse reads a transition's answer and holds it to the plan laws, with L3
// against these declared effects. Every error is of kind PlanLaw and names the
// law and the place.
func Parse(raw []byte, declared []law.Triple) (Plan, error) {
	v, err := canon.Parse(raw, canon.Limits{Bytes: MaxAnswer})
	if err != nil {
		return Plan{}, shape("not well-formed JSON: " + fault.Public(err))
	}
	if v.Kind() != canon.Object {
		return Plan{}, shape("plan is not a JSON object")
	}
	f := Facts{Reserved: has(v, "world")}
	if f.Reserved {
		return Plan{}, broken(JudgeSize(f), "the plan carries the reserved key \"world\"")
	}
	if err := closed("plan", v, "effects", "finish", "plan", "result"); err != nil {
		return Plan{}, err
	}
	p := Plan{Bytes: v.Bytes()}
	if kind, ok := get(v, "plan").Text(); !ok || kind != record.Plan {
		return Plan{}, shape("plan discriminator is not \"" + record.Plan + "\"")
	}
	var ok bool
	if p.Finish, ok = get(v, "finish").Bool(); !ok {
		return Plan{}, shape("finish is not a boolean")
	}
	p.Result = get(v, "result")
	effects := get(v, "effects")
	if effects.Kind() != canon.Array {
		return Plan{}, shape("effects is not a JSON array")
	}
	f.Effects, f.Finish = len(effects.Items()), p.Finish
	f.ResultNull, f.ResultObject = p.Result.Kind() == canon.Null, p.Result.Kind() == canon.Object
	f.ResultReserved = has(p.Result, "world")
	if verdict := JudgeSize(f); verdict != Lawful {
		return Plan{}, broken(verdict, strconv.Itoa(f.Effects)+" effects; a v1 plan carries at most "+strconv.Itoa(MaxEffects))
	}
	if p.Effects, err = parseEffects(effects.Items(), declared); err != nil {
		return Plan{}, err
	}
	if verdict := JudgeResult(f); verdict != Lawful {
		return Plan{}, broken(verdict, resultTexts[verdict])
	}
	return p, nil
}

var resultTexts = map[Verdict]string{
	ResultShape:      "result is neither null nor a JSON object",
	ResultMissing:    "a plan with zero effects must carry a result object",
	ResultUnwanted:   "a plan with effects must carry a null result",
	FinishAlone:      "finish requested by a plan with zero effects",
	ReservedInResult: "the result carries the reserved key \"world\"",
}

// parseEffects reads the effects of a plan and judges each.
func parseEffects(items []canon.Value, declared []law.Triple) ([]Effect, error) {
	effects, facts := make([]Effect, len(items)), make([]EffectFacts, len(items))
	for i, item := range items {
		at := "effects[" + strconv.Itoa(i) + "]"
		e, err := parseEffect(at, item)
		if err != nil {
			return nil, err
		}
		payload := get(item, "payload")
		e.Payload = payload.Bytes()
		facts[i] = EffectFacts{
			ID: e.ID, Declared: Declared(declared, e.Triple),
			PayloadObject: payload.Kind() == canon.Object, PayloadBytes: len(e.Payload),
		}
		if verdict := JudgeEffect(facts[i]); verdict != Lawful {
			return nil, broken(verdict, at+effectText(verdict, e))
		}
		effects[i] = e
	}
	for _, e := range effects {
		if !Once(facts, e.ID) {
			return nil, broken(RepeatedID, "effect id "+quote(e.ID)+" is not unique")
		}
	}
	return effects, nil
}

// parseEffect reads the members of one effect but its payload.
func parseEffect(at string, v canon.Value) (Effect, error) {
	var e Effect
	if v.Kind() != canon.Object {
		return e, shape(at + " is not a JSON object")
	}
	if err := closed(at, v, "cost", "effect", "id", "payload", "scope"); err != nil {
		return e, err
	}
	id, ok1 := get(v, "id").Text()
	effect, ok2 := get(v, "effect").Text()
	scope, ok3 := get(v, "scope").Text()
	if !ok1 || !ok2 || !ok3 {
		return e, shape(at + " id, effect and scope are not all strings")
	}
	cost, ok := get(v, "cost").Int64()
	if !ok {
		return e, shape(at + " cost is not a 64-bit integer")
	}
	return Effect{ID: id, Triple: law.Triple{Effect: law.Effect(effect), Scope: law.Scope(scope), Cost: cost}}, nil
}

func effectText(v Verdict, e Effect) string {
	switch v {
	case BadID:
		return " id " + quote(e.ID) + " does not match [a-z0-9]{1,16}"
	case PayloadKind:
		return " payload is not a JSON object"
	case Undeclared:
		return " (" + clip(string(e.Triple.Effect)) + ", " + clip(string(e.Triple.Scope)) + ", " +
			strconv.FormatInt(e.Triple.Cost, 10) + ") is not a declared effect"
	case PayloadSize:
		return " payload is " + strconv.Itoa(len(e.Payload)) + " canonical bytes; limit is " + strconv.Itoa(MaxPayload)
	}
	panic("plan: verdict " + v.Law() + " is not about an effect")
}

// closed refuses an object whose member names are not exactly these.
func closed(at string, v canon.Value, names ...string) error {
	var missing, unknown []string
	for _, name := range names {
		if !has(v, name) {
			missing = append(missing, name)
		}
	}
	for _, m := range v.Members() {
		if !contains(names, m.Name) && len(unknown) < 8 {
			unknown = append(unknown, quote(m.Name))
		}
	}
	if missing == nil && unknown == nil {
		return nil
	}
	return shape(at + " keys: missing [" + strings.Join(missing, " ") + "], unknown [" + strings.Join(unknown, " ") + "]")
}
