package drift

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leanovate/gopter"

	"world/spec"
	"world/z3"
)

// comparisons are all laws that are sampled.
var comparisons = slices.Concat(decisionLaws, planLaws, recordLaws)

// Run says what to sample.
type Run struct {
	Seed    int64        // of the first inputs; equal seeds make equal inputs
	Inputs  int          // how many, rounded up to whole batches; 0 is until ctx ends
	Solvers []z3.Program // one process each
	Limit   time.Duration
}

// Report is what a run met.
type Report struct {
	Inputs map[string]int // by law
	Tally  Tally
	Next   int64 // the seed to go on with
}

// Sample compares Go and model on generated inputs until it has done them or
// met a Difference, which is its error. It does not judge what the run missed.
func Sample(ctx context.Context, book *spec.Book, run Run) (Report, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	jobs := make(chan job)
	var mu sync.Mutex
	report := Report{Inputs: map[string]int{}, Tally: Tally{}, Next: run.Seed}
	for _, c := range comparisons {
		c.expected(report.Tally)
	}
	var wg sync.WaitGroup
	for _, solver := range run.Solvers {
		wg.Go(func() {
			m, err := Open(ctx, book, solver, run.Limit)
			if err != nil {
				stop(err)
				return
			}
			defer m.Close()
			for j := range jobs {
				tally := Tally{}
				if err := j.do(m, tally); err != nil {
					stop(err)
					return
				}
				mu.Lock()
				report.Tally.add(tally)
				report.Inputs[j.law.name()] += j.batches * batch
				mu.Unlock()
			}
		})
	}
	report.Next = deal(ctx, run, jobs)
	close(jobs)
	wg.Wait()
	if err := context.Cause(ctx); err != nil && ctx.Err() != err {
		return report, err
	}
	return report, nil
}

// Difference is an input on which Go and the model do not answer the same.
type Difference struct {
	Seed int64  // a run of this seed meets it in its first round
	What string // law, input and both answers
}

// Error renders the difference for a reader.
func (d *Difference) Error() string { return fmt.Sprintf("drift: seed %d: %s", d.Seed, d.What) }

// A job is some batches of one law, its part of a round.
type job struct {
	law     comparison
	round   int64 // names the run that begins with it
	seed    int64 // of these batches
	batches int
}

func (j job) do(m *Model, t Tally) error {
	parameters := gopter.DefaultTestParametersWithSeed(j.seed)
	parameters.MinSuccessfulTests = j.batches
	result := j.law.property(m, t).Check(parameters)
	switch {
	case result.Error != nil:
		return result.Error
	case !result.Passed():
		return &Difference{j.round, strings.Join(result.Labels, "; ")}
	}
	return nil
}

// deal hands out jobs in rounds of one a law, each with a seed of its own, and
// returns the seed of the round after the last.
func deal(ctx context.Context, run Run, jobs chan<- job) int64 {
	const batches = 100 // in one round, about
	seed := run.Seed
	for done := 0; run.Inputs == 0 || done < run.Inputs; seed++ {
		for i, c := range comparisons {
			j := job{c, seed, seed*int64(len(comparisons)) + int64(i), max(1, batches*c.share()/100)}
			select {
			case jobs <- j:
			case <-ctx.Done():
				return seed
			}
			done += j.batches * batch
		}
	}
	return seed
}
