package decide

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"world/broker/law"
	"world/drift"
)

var (
	questions = flag.Int("decide.questions", 1000, "how many questions to compare at each number of grants")
	seed      = flag.Uint64("decide.seed", 1, "seed of the questions")
)

// asked is one question with every engine's answer, in the order of Engines.
type asked struct {
	grants  []law.Grant
	request law.Request
	answers []bool
}

func (q asked) String() string {
	about := q.grants[:min(len(q.grants), 8)]
	return fmt.Sprintf("%+v over %d grants, the first of them %+v", q.request, len(q.grants), about)
}

// poll puts requests to every engine.
func poll(t *testing.T, grants []law.Grant, requests []law.Request) []asked {
	t.Helper()
	out := make([]asked, len(requests))
	for i, r := range requests {
		out[i] = asked{grants, r, make([]bool, len(Engines))}
	}
	for k, e := range Engines {
		ask, err := e.Load(grants)
		if err != nil {
			t.Fatalf("%s does not load %+v: %v", e.Name, grants, err)
		}
		for i := range out {
			if out[i].answers[k], err = ask(out[i].request)(); err != nil {
				t.Fatalf("%s does not answer %s: %v", e.Name, out[i], err)
			}
		}
	}
	return out
}

// verdicts counts what the law says, and fails where a verdict is rare.
func verdicts(t *testing.T, all []asked) {
	t.Helper()
	counts := make([]int, law.Allowed+1)
	for _, q := range all {
		counts[law.Decide(q.grants, q.request).Verdict]++
	}
	var words []string
	for v, n := range counts {
		words = append(words, fmt.Sprint(n, " ", law.Verdict(v).Label()))
		if n < len(all)/50 {
			t.Errorf("only %d of %d are %s: the comparison is one-sided", n, len(all), law.Verdict(v).Label())
		}
	}
	t.Logf("%d questions, %d engines: %s", len(all), len(Engines), strings.Join(words, ", "))
}

// agree fails on the first question that an engine answers unlike the law.
func agree(t *testing.T, all []asked) {
	t.Helper()
	for _, q := range all {
		for k, e := range Engines {
			if want := law.Decide(q.grants, q.request).Verdict == law.Allowed; q.answers[k] != want {
				t.Fatalf("%s says %v, the law %v, on %s", e.Name, q.answers[k], want, q)
			}
		}
	}
}

// All engines answer alike at every size; and each would be seen to differ from
// each wrong law, so that a difference between them cannot be missed.
func TestEnginesAgree(t *testing.T) {
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(*seed, uint64(n)))
			asks := 10 + n/4 // of each list of grants: loading takes longest
			var all []asked
			for len(all) < *questions {
				grants, requests := draw(rng, n, asks)
				all = append(all, poll(t, grants, requests)...)
			}
			verdicts(t, all)
			agree(t, all)
			for _, wrong := range wrongLaws {
				if n >= wrong.from {
					wrong.differs(t, all)
				}
			}
		})
	}
}

// The inputs of the drift test, too: boundary numbers, look-alike names, up to
// eight grants, the solver's own corners first.
func TestEnginesAgreeOnDriftInputs(t *testing.T) {
	var all []asked
	for _, c := range drift.Cases(int64(*seed), *questions) {
		all = append(all, poll(t, c.Grants, []law.Request{c.Request})...)
	}
	verdicts(t, all)
	agree(t, all)
}

// Casbin knows a rule by its fields with commas between them, so of two grants that
// read alike that way it keeps one. A session's grants hold no comma.
func TestCasbinTakesTwoGrantsForOne(t *testing.T) {
	grants := []law.Grant{
		{Effect: "a,b", Scope: "c", ExpiresAt: 9, Budget: 9},
		{Effect: "a", Scope: "b,c", ExpiresAt: 9, Budget: 9},
	}
	for i, want := range []bool{true, false} {
		r := law.Request{Effect: grants[i].Effect, Scope: grants[i].Scope, Cost: 1, Now: 1}
		for k, got := range poll(t, grants, []law.Request{r})[0].answers {
			if w := want || Engines[k].Name != "casbin"; got != w {
				t.Errorf("%s says %v of %+v", Engines[k].Name, got, r)
			}
		}
	}
}

// The requests that are measured are what they are said to be.
func TestMeasuredRequests(t *testing.T) {
	for _, n := range sizes {
		grants, allowed, denied := session(n)
		if d := law.Decide(grants, allowed); d.Verdict != law.Allowed || d.Grant != n-1 {
			t.Errorf("%d grants: %+v, want the last to allow", n, d)
		}
		if d := law.Decide(grants, denied); d.Verdict != law.DeniedBudget || d.Grant != n-1 {
			t.Errorf("%d grants: %+v, want the last to deny by budget", n, d)
		}
		agree(t, poll(t, grants, []law.Request{allowed, denied}))
	}
}
