package decide

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"world/broker/law"
)

// sizes are the numbers of grants that are measured and compared.
var sizes = []int{1, 6, 64, 1024}

// edges are the numbers at which engines differ if they differ at all.
var edges = []int64{math.MinInt64, -1, 0, 1, 1 << 53, 1<<53 + 1, math.MaxInt64 - 1, math.MaxInt64}

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }

// draw draws n grants and asks about them. The alphabet of names grows with n, so
// that about two grants share effect and scope at every n and no verdict becomes
// rare; some of the names differ in case or in the bytes of one letter only.
func draw(rng *rand.Rand, n, asks int) ([]law.Grant, []law.Request) {
	effects := []law.Effect{"Workspace.Read", "workspace.read", ""}
	for i := range n / 8 {
		effects = append(effects, law.Effect(fmt.Sprint("Effect.", i)))
	}
	scopes := []law.Scope{"worktree", "caf\u00e9", "cafe\u0301", "run\x00", `"\`}
	grants := make([]law.Grant, n)
	for i := range grants {
		grants[i] = law.Grant{Effect: pick(rng, effects), Scope: pick(rng, scopes), ExpiresAt: numeral(rng, 50), Budget: numeral(rng, 5)}
	}
	requests := make([]law.Request, asks)
	for i := range requests {
		g := pick(rng, grants)
		r := law.Request{Effect: g.Effect, Scope: g.Scope, Cost: numeral(rng, g.Budget), Now: numeral(rng, g.ExpiresAt)}
		if g.ExpiresAt > 0 && rng.IntN(2) == 0 {
			r.Now = rng.Int64N(g.ExpiresAt)
		}
		switch rng.IntN(8) {
		case 0:
			r.Effect = pick(rng, append(effects, "Nobody.Granted"))
		case 1:
			r.Scope = pick(rng, append(scopes, "nowhere"))
		case 2:
			r.Effect = "Nobody.Granted"
		case 3:
			r.Scope = "nowhere"
		case 4:
			r.Effect = law.Effect(strings.ToLower(string(r.Effect)))
		}
		requests[i] = r
	}
	return grants, requests
}

// numeral is an edge, a small number, or one beside another.
func numeral(rng *rand.Rand, near int64) int64 {
	switch rng.IntN(8) {
	case 0, 1, 2:
		return pick(rng, edges)
	case 3:
		return rng.Int64N(10)
	}
	return near + rng.Int64N(3) - 1
}

// session is what is measured: n grants of 50 calls, and a request that the last
// one alone allows, or, asking for one call more, that it alone denies by budget.
// Six of them are the preset of a coding session.
func session(n int) (grants []law.Grant, allowed, denied law.Request) {
	names := []law.Effect{"Ailang.Check", "Ailang.Run", "Ailang.Discover", "Ailang.CLI", "Workspace.Read", "Workspace.Write"}
	grants = make([]law.Grant, n)
	for i := range grants {
		grants[i] = law.Grant{Effect: names[i%len(names)], Scope: "worktree", ExpiresAt: 2_000_000_000, Budget: 50}
		if i >= len(names) {
			grants[i].Scope += law.Scope(fmt.Sprintf("-%03d", i/len(names)))
		}
	}
	last := grants[n-1]
	allowed = law.Request{Effect: last.Effect, Scope: last.Scope, Cost: 1, Now: 1_900_000_000}
	denied = allowed
	denied.Cost = last.Budget + 1
	return grants, allowed, denied
}
