package drift

import (
	"context"
	"flag"
	"testing"
	"time"

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
}
