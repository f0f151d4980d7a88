package proptest

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"

	"world/broker/law"
	"world/coordinator/plan"
	"world/fault"
)

var lawfulID = regexp.MustCompile(`\A[a-z0-9]{1,16}\z`)

// brokenLaw is the plan laws in the words of the reference, over a plan that is
// text and not yet facts: the first law broken, "" when lawful.
func brokenLaw(p planText, declared []law.Triple) string {
	switch n := len(p.Triples); {
	case p.Reserved:
		return "L6"
	case n > 1:
		return "L1"
	case n == 1 && !lawfulID.MatchString(p.IDs[0]):
		return "L2"
	case n == 1 && !strings.HasPrefix(p.Payloads[0], "{"):
		return "L4"
	case n == 1 && !slices.Contains(declared, p.Triples[0]):
		return "L3"
	case p.Result == "[]":
		return "L7"
	case (n == 0) == (p.Result == "null"):
		return "L7"
	case n == 0 && p.Finish:
		return "L7"
	case p.Result == `{"world":1}`:
		return "L6"
	}
	return ""
}

// parameters runs enough plans that each law is broken and kept many times.
func parameters(tests int) *gopter.TestParameters {
	p := gopter.DefaultTestParameters()
	p.MinSuccessfulTests = tests
	return p
}

// TestPlanLaws holds the parser to the laws in words, and counts that no law went
// without being broken: a suite that never meets a case says nothing about it.
func TestPlanLaws(t *testing.T) {
	seen := map[string]int{}
	properties := gopter.NewProperties(parameters(20_000))
	properties.Property("the first broken law is named, and only when one is broken", prop.ForAll(
		func(p planText, declared []law.Triple) bool {
			want := brokenLaw(p, declared)
			seen[want]++
			_, err := plan.Parse(p.JSON(false), declared)
			if want == "" {
				return err == nil
			}
			return fault.Is(err, fault.PlanLaw) && strings.HasPrefix(fault.Detail(err), "effect plan violates "+want+": ")
		}, genPlan(), gen.SliceOfN(12, genTriple())))
	properties.TestingRun(t)
	for _, name := range []string{"", "L1", "L2", "L3", "L4", "L6", "L7"} {
		if seen[name] < 50 {
			t.Errorf("law %q came up %d times", name, seen[name])
		}
	}
}

// TestPlanReading holds parsing to what it promises of form and of declarations.
func TestPlanReading(t *testing.T) {
	properties := gopter.NewProperties(parameters(5_000))
	declarations := gen.SliceOfN(12, genTriple())
	properties.Property("order of members and white space mean nothing", prop.ForAll(
		func(p planText, declared []law.Triple) bool {
			a, errA := plan.Parse(p.JSON(false), declared)
			b, errB := plan.Parse(p.JSON(true), declared)
			return (errA == nil) == (errB == nil) && string(a.Bytes) == string(b.Bytes)
		}, genPlan(), declarations))
	properties.Property("canonical form is a fixed point", prop.ForAll(
		func(p planText, declared []law.Triple) bool {
			a, err := plan.Parse(p.JSON(true), declared)
			if err != nil {
				return true
			}
			b, err := plan.Parse(a.Bytes, declared)
			return err == nil && string(a.Bytes) == string(b.Bytes)
		}, genPlan(), declarations))
	properties.Property("a plan plans only what is declared", prop.ForAll(
		func(p planText, declared []law.Triple) bool {
			a, err := plan.Parse(p.JSON(false), declared)
			return err != nil || !slices.ContainsFunc(a.Effects, func(e plan.Effect) bool { return !slices.Contains(declared, e.Triple) })
		}, genPlan(), declarations))
	properties.Property("declaring more refuses no plan, and declaring less allows none", prop.ForAll(
		func(p planText, declared []law.Triple, more law.Triple) bool {
			_, few := plan.Parse(p.JSON(false), declared)
			_, many := plan.Parse(p.JSON(false), append(slices.Clone(declared), more))
			return few != nil || many == nil
		}, genPlan(), declarations, genTriple()))
	properties.TestingRun(t)
}

// TestPlanLawFunctions holds the small pure laws to their plain meaning.
func TestPlanLawFunctions(t *testing.T) {
	properties := gopter.NewProperties(parameters(5_000))
	properties.Property("Declared is membership", prop.ForAll(
		func(declared []law.Triple, x law.Triple) bool {
			return plan.Declared(declared, x) == slices.Contains(declared, x)
		}, gen.SliceOf(genTriple()), genTriple()))
	properties.Property("Once counts to one", prop.ForAll(
		func(names []string, id string) bool {
			var facts []plan.EffectFacts
			n := 0
			for _, name := range names {
				facts = append(facts, plan.EffectFacts{ID: name})
				if name == id {
					n++
				}
			}
			return plan.Once(facts, id) == (n == 1)
		}, gen.SliceOf(gen.OneConstOf(ids...)), gen.OneConstOf(ids...)))
	properties.Property("LawfulID is the grammar", prop.ForAll(
		func(id string) bool { return plan.LawfulID(id) == lawfulID.MatchString(id) },
		gen.OneGenOf(gen.AnyString(), gen.RegexMatch(`[a-z0-9]{0,18}`), gen.RegexMatch(`[a-z0-9A_]{1,16}`))))
	properties.TestingRun(t)
}
