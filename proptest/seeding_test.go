package proptest

import (
	"math"
	"math/big"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"

	"world/broker/law"
)

// genAmount draws int64s near every edge of seeding: zero, the ends of the
// range, and small numbers that often meet.
func genAmount() gopter.Gen {
	return gen.OneGenOf(
		gen.Int64Range(-3, 12),
		gen.OneConstOf(int64(math.MinInt64), int64(math.MinInt64+1), int64(math.MaxInt64-1), int64(math.MaxInt64)),
		gen.Int64(),
	)
}

// genRun draws a budget and the requests of an episode on one grant.
func genRun() gopter.Gen { return gen.SliceOf(gen.OneGenOf(gen.Int64Range(-1, 4), genAmount())) }

// ideal is seeding in numbers without end.
func ideal(budget, spent int64) *big.Int {
	zero := new(big.Int)
	b, s := big.NewInt(budget), big.NewInt(spent)
	if b.Cmp(zero) < 0 {
		b = zero
	}
	if s.Cmp(zero) < 0 {
		s = zero
	}
	if left := new(big.Int).Sub(b, s); left.Cmp(zero) > 0 {
		return left
	}
	return zero
}

func TestSeeding(t *testing.T) {
	p := gopter.NewProperties(parameters(20_000))
	p.Property("a seed is max(budget - spent, 0) in numbers without end", prop.ForAll(func(b, s int64) bool {
		return ideal(b, s).Cmp(big.NewInt(law.Seed(b, s))) == 0
	}, genAmount(), genAmount()))
	p.Property("a seed is between nothing and a budget that is not negative", prop.ForAll(func(b, s int64) bool {
		seed := law.Seed(b, s)
		return seed >= 0 && (b < 0 || seed <= b)
	}, genAmount(), genAmount()))
	p.Property("more spend never seeds more, more budget never less", prop.ForAll(func(b, s, x int64) bool {
		return law.Seed(b, max(s, x)) <= law.Seed(b, min(s, x)) && law.Seed(max(b, x), s) >= law.Seed(min(b, x), s)
	}, genAmount(), genAmount(), genAmount()))
	p.Property("seeding twice is seeding once with the sum", prop.ForAll(func(b, s, u int64) bool {
		return law.Seed(law.Seed(b, s), u) == law.Seed(b, law.Plus(s, u))
	}, genAmount(), genAmount(), genAmount()))
	p.TestingRun(t)
}

func TestSumsOfSpend(t *testing.T) {
	p := gopter.NewProperties(parameters(20_000))
	p.Property("a sum is the ideal one, cut at the largest int64", prop.ForAll(func(a, b int64) bool {
		sum := new(big.Int).Add(big.NewInt(max(a, 0)), big.NewInt(max(b, 0)))
		if !sum.IsInt64() {
			return law.Plus(a, b) == math.MaxInt64
		}
		return law.Plus(a, b) == sum.Int64()
	}, genAmount(), genAmount()))
	p.Property("order and grouping do not matter", prop.ForAll(func(a, b, c int64) bool {
		return law.Plus(a, b) == law.Plus(b, a) && law.Plus(law.Plus(a, b), c) == law.Plus(a, law.Plus(b, c))
	}, genAmount(), genAmount(), genAmount()))
	p.TestingRun(t)
}

// A whole episode on one grant, decided twice: by debiting a live grant, and by
// seeding the minted one from the durable spend before each call, as after a
// restart. Both must allow the same calls and leave the same budget.
func TestAnEpisodeSeededIsAnEpisodeLived(t *testing.T) {
	allowed := 0
	p := gopter.NewProperties(parameters(20_000))
	p.Property("live budget = seed of the spend", prop.ForAll(func(budget int64, costs []int64) bool {
		minted := law.Grant{Effect: "e", Scope: "s", ExpiresAt: 10, Budget: budget}
		live, spent := minted, int64(0)
		for _, cost := range costs {
			r := law.Request{Effect: "e", Scope: "s", Cost: cost, Now: 5}
			seeded := minted
			seeded.Budget = law.Seed(minted.Budget, spent)
			if budget >= 0 && (seeded != live || law.Judge(seeded, r) != law.Judge(live, r)) {
				return false
			}
			if law.Judge(seeded, r) == law.Allowed {
				allowed++
				spent = law.Plus(spent, cost)
			}
			live = law.Debit(live, r)
		}
		return spent >= 0 && spent <= max(budget, 0) && (budget < 0 || live.Budget == budget-spent)
	}, genAmount(), genRun()))
	p.TestingRun(t)
	if allowed == 0 {
		t.Error("no call was ever allowed: the property says nothing")
	}
}

// Whatever a seeded list of grants allows, the minted list allows: seeding hides
// nothing and widens nothing.
func TestSeedingNeverWidens(t *testing.T) {
	narrowed := 0
	p := gopter.NewProperties(parameters(20_000))
	p.Property("seeded allows => minted allows", prop.ForAll(func(budgets []int64, spent, cost int64) bool {
		var minted, seeded []law.Grant
		for _, b := range budgets {
			g := law.Grant{Effect: "e", Scope: "s", ExpiresAt: 10, Budget: max(b, 0)}
			minted = append(minted, g)
			g.Budget = law.Seed(g.Budget, spent)
			seeded = append(seeded, g)
		}
		r := law.Request{Effect: "e", Scope: "s", Cost: cost, Now: 5}
		before, after := law.Decide(minted, r), law.Decide(seeded, r)
		if before.Verdict == law.Allowed && after.Verdict != law.Allowed {
			narrowed++
		}
		return after.Verdict != law.Allowed || before.Verdict == law.Allowed
	}, gen.SliceOfN(3, gen.Int64Range(-1, 9)), gen.Int64Range(-2, 12), gen.Int64Range(-1, 9)))
	p.TestingRun(t)
	if narrowed == 0 {
		t.Error("spend never narrowed anything: the property says nothing")
	}
}
