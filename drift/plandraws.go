package drift

import (
	"math/rand"

	"world/broker/law"
	"world/coordinator/plan"
)

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
