package drift

import (
	"context"
	"flag"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"world/broker/law"
	"world/fault"
	"world/z3"
)

var (
	seed   = flag.Int64("drift.seed", 1, "seed of the sampled inputs")
	inputs = flag.Int("drift.inputs", 1_000_000, "how many inputs to sample")
)

func TestGoAnswersLikeTheModel(t *testing.T) {
	start := time.Now()
	run := Run{Seed: *seed, Inputs: *inputs, Solvers: []z3.Program{z3.Z3("z3"), z3.Z3("z3")}, Limit: time.Minute}
	report, err := Sample(context.Background(), book(t), run)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("inputs by law: %v, in %.1f s, next seed %d\n%s", report.Inputs, time.Since(start).Seconds(), report.Next, report.Tally)
	for _, name := range report.Tally.Missed() {
		t.Errorf("no input met %s", name)
	}
	total := 0
	for _, n := range report.Inputs {
		total += n
	}
	if total < *inputs || report.Inputs["decide"] < *inputs/5 {
		t.Errorf("%d inputs, %d of them whole decisions; want %d and a fifth", total, report.Inputs["decide"], *inputs)
	}
}

func TestTheSecondSolverAgrees(t *testing.T) {
	run := Run{Seed: *seed + 1_000_000, Inputs: 25_000, Solvers: []z3.Program{z3.CVC5("cvc5")}, Limit: time.Minute}
	if _, err := Sample(context.Background(), book(t), run); err != nil {
		t.Fatal(err)
	}
}

// A seed names its inputs, however many solvers share them: a reported
// difference can be met again.
func TestASeedMakesItsInputs(t *testing.T) {
	sample := func(seed int64, solvers ...z3.Program) Report {
		t.Helper()
		r, err := Sample(context.Background(), book(t), Run{Seed: seed, Inputs: 25_000, Solvers: solvers, Limit: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	one, two := sample(5, z3.Z3("z3")), sample(5, z3.Z3("z3"), z3.Z3("z3"))
	if !reflect.DeepEqual(one, two) {
		t.Errorf("one seed, two runs:\n%v\n%v", one, two)
	}
	if other := sample(6, z3.Z3("z3")); reflect.DeepEqual(one.Tally, other.Tally) {
		t.Error("two seeds made the same inputs")
	}
	if one.Next != 6 {
		t.Errorf("next seed %d, want 6", one.Next)
	}
}

func TestAnEndlessRunEndsWhenTold(t *testing.T) {
	for patience := time.Second; ; patience *= 2 {
		ctx, stop := context.WithTimeout(context.Background(), patience)
		report, err := Sample(ctx, book(t), Run{Seed: 1, Solvers: []z3.Program{z3.Z3("z3")}, Limit: time.Minute})
		stop()
		if err != nil {
			t.Fatal(err)
		}
		if report.Inputs["decide"] > 0 && report.Next >= 1 {
			return
		}
		if patience > time.Minute {
			t.Fatalf("nothing was done in %s: %v", patience, report.Inputs)
		}
	}
}

func TestNoSolverIsSaid(t *testing.T) {
	run := Run{Inputs: 1000, Solvers: []z3.Program{z3.Z3("no-such-z3")}, Limit: time.Minute}
	_, err := Sample(context.Background(), book(t), run)
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "z3") {
		t.Fatalf("got %v, want z3 unavailable", err)
	}
}

func TestAVerdictNeverMetIsSaid(t *testing.T) {
	tally := Tally{}
	expectVerdicts(tally, "judge")
	tally[verdictName("judge", int(law.Allowed))]++
	want := []string{"judge: denied:budget", "judge: denied:effect-name", "judge: denied:expired", "judge: denied:scope"}
	if got := tally.Missed(); !slices.Equal(got, want) {
		t.Fatalf("missed %q, want %q", got, want)
	}
}
