package drift

import (
	"math"
	"math/rand"
	"slices"

	"github.com/leanovate/gopter"

	"world/broker/law"
)

// The alphabets are small and shared by grants and requests, so that every
// verdict is common. Some names differ in case or in the bytes of one letter only.
var (
	effects = []law.Effect{"Workspace.Read", "Workspace.Write", "workspace.read", ""}
	scopes  = []law.Scope{"worktree", "caf\u00e9", "cafe\u0301", "run\x00"}
	edges   = []int64{math.MinInt64, math.MinInt64 + 1, -2, -1, 0, 1, 2, 6, math.MaxInt64 - 1, math.MaxInt64}
)

// of makes a gopter generator from a function of a random source. Inputs are not
// shrunk: they are small, and the first difference is reported as it is.
func of[T any](draw func(*rand.Rand) T) gopter.Gen {
	return func(p *gopter.GenParameters) *gopter.GenResult {
		return gopter.NewGenResult(draw(p.Rng), gopter.NoShrinker)
	}
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.Intn(len(from))] }

// number is an edge, a number close to another one, a small or any number.
func number(r *rand.Rand, near int64) int64 {
	switch r.Intn(8) {
	case 0:
		return pick(r, edges)
	case 1:
		return int64(r.Uint64())
	case 2, 3:
		return int64(r.Intn(10))
	}
	return near + int64(r.Intn(3)) - 1
}

func request(r *rand.Rand) law.Request {
	q := law.Request{Effect: pick(r, effects), Scope: pick(r, scopes), Cost: int64(r.Intn(4)), Now: int64(r.Intn(100))}
	switch r.Intn(6) {
	case 0:
		q.Cost = number(r, 0)
	case 1:
		q.Now = number(r, 0)
	}
	return q
}

// grant draws a grant that is often about the request, and then often near one
// of the request's numbers.
func grant(r *rand.Rand, q law.Request) law.Grant {
	g := law.Grant{Effect: q.Effect, Scope: q.Scope, ExpiresAt: number(r, q.Now), Budget: number(r, q.Cost)}
	if r.Intn(4) == 0 {
		g.Effect = pick(r, effects)
	}
	if r.Intn(4) == 0 {
		g.Scope = pick(r, scopes)
	}
	if r.Intn(2) == 0 {
		g.ExpiresAt = max(q.Now, 0) + 1 + int64(r.Intn(50))
	}
	return g
}

// pair draws a pair, one in four from the solver's own boundary inputs with one
// number moved by one at most.
func pair(r *rand.Rand) Pair {
	if r.Intn(4) != 0 {
		q := request(r)
		return Pair{grant(r, q), q}
	}
	p := pick(r, corpus).Pair
	step := int64(r.Intn(3)) - 1
	switch r.Intn(4) {
	case 0:
		p.Grant.ExpiresAt += step
	case 1:
		p.Grant.Budget += step
	case 2:
		p.Request.Cost += step
	case 3:
		p.Request.Now += step
	}
	return p
}

// decisionCase draws 0 to 8 grants for one request; later ones often repeat an
// earlier one, so that ties are common.
func decisionCase(r *rand.Rand) Case {
	p := pair(r)
	c := Case{Request: p.Request}
	n := r.Intn(5)
	if r.Intn(4) == 0 {
		n = r.Intn(9)
	}
	for i := range n {
		switch {
		case i > 0 && r.Intn(5) == 0:
			c.Grants = append(c.Grants, pick(r, c.Grants))
		case r.Intn(6) == 0:
			c.Grants = append(c.Grants, p.Grant)
		default:
			c.Grants = append(c.Grants, grant(r, p.Request))
		}
	}
	return c
}

// Cases draws n whole decisions as Sample does, for other oracles. The solver's
// boundary inputs come first, as far as n reaches.
func Cases(seed int64, n int) []Case {
	var out []Case
	for _, b := range corpus {
		out = append(out, Case{[]law.Grant{b.Grant}, b.Request})
	}
	r := rand.New(rand.NewSource(seed))
	for len(out) < n {
		out = append(out, decisionCase(r))
	}
	return out[:n]
}

// two draws two numbers, often close to each other or to the saturation point.
func two(r *rand.Rand) Two {
	t := Two{A: number(r, 0)}
	t.B = number(r, t.A)
	if r.Intn(3) == 0 {
		t.A = r.Int63()
		t.B = number(r, math.MaxInt64-t.A)
	}
	return t
}

// plainPair draws a pair whose texts are printable, so that a solver prints them
// back as they are.
func plainPair(r *rand.Rand) Pair {
	p := pair(r)
	if p.Grant.Scope != p.Request.Scope {
		p.Request.Scope = "elsewhere"
	}
	if slices.Contains(scopes[1:], p.Grant.Scope) {
		if p.Grant.Scope == p.Request.Scope {
			p.Request.Scope = scopes[0]
		}
		p.Grant.Scope = scopes[0]
	}
	return p
}
