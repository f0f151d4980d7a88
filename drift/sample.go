package drift

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"

	"world/broker/law"
	"world/spec"
	"world/z3"
)

// batch is how many inputs a solver is asked about at a time.
const batch = 250

// comparison is one law of Go beside its model.
type comparison interface {
	name() string
	share() int // of every hundred inputs
	property(m *Model, t Tally) gopter.Prop
	expected(t Tally)
}

// pairing is the comparison of one function with one of the model's.
type pairing[In any, Out any] struct {
	title  string
	weight int
	draw   gopter.Gen
	goes   func(In) Out
	model  func(*Model, []In) ([]Out, error)
	same   func(Out, Out) bool
	corner []boundary[In]
	grade  func(Tally, In, Out) // counts the verdict, nil if there is none
	begin  func(Tally)          // names the verdicts that must be met
}

func (p pairing[In, Out]) name() string { return p.title }
func (p pairing[In, Out]) share() int   { return p.weight }

func (p pairing[In, Out]) expected(t Tally) {
	expect(t, p.title, p.corner)
	if p.begin != nil {
		p.begin(t)
	}
}

// property holds batches of inputs to the model. It counts inputs as it goes.
func (p pairing[In, Out]) property(m *Model, t Tally) gopter.Prop {
	return prop.ForAllNoShrink(func(inputs []In) (string, error) {
		want, err := p.model(m, inputs)
		if err != nil {
			return "", err
		}
		for i, in := range inputs {
			got := p.goes(in)
			if !p.same(got, want[i]) {
				return fmt.Sprintf("%s of %+v: Go says %+v, the model %+v", p.title, in, got, want[i]), nil
			}
			count(t, p.title, p.corner, in)
			if p.grade != nil {
				p.grade(t, in, got)
			}
		}
		return "", nil
	}, gen.SliceOfN(batch, p.draw))
}

func equal[T comparable](a, b T) bool { return a == b }

// labelled is a verdict with its label, so that labels are compared too.
type labelled struct {
	law.Decision
	Label string
}

// comparisons are all laws that are sampled.
var comparisons = slices.Concat(decisionLaws, planLaws, recordLaws)

// decisionLaws are those of broker/law.
var decisionLaws = []comparison{
	pairing[Case, labelled]{
		title: "decide", weight: 21, draw: of(decisionCase), same: equal[labelled], corner: caseBoundaries,
		goes: func(c Case) labelled { d := decide(c); return labelled{d, d.Verdict.Label()} },
		model: func(m *Model, cases []Case) ([]labelled, error) {
			ds, err := m.Decide(cases)
			out := make([]labelled, len(ds))
			for i, d := range ds {
				out[i] = labelled{d, m.Label(d.Verdict)}
			}
			return out, err
		},
		begin: func(t Tally) { expectVerdicts(t, "decide") },
		grade: func(t Tally, _ Case, d labelled) { t[verdictName("decide", int(d.Verdict))]++ },
	},
	pairing[Pair, law.Verdict]{
		title: "judge", weight: 33, draw: of(pair), same: equal[law.Verdict], corner: pairBoundaries,
		goes:  func(p Pair) law.Verdict { return law.Judge(p.Grant, p.Request) },
		model: (*Model).Judge,
		begin: func(t Tally) { expectVerdicts(t, "judge") },
		grade: func(t Tally, _ Pair, v law.Verdict) { t[verdictName("judge", int(v))]++ },
	},
	pairing[Pair, law.Grant]{
		title: "debit", weight: 5, draw: of(plainPair), same: equal[law.Grant],
		goes:  func(p Pair) law.Grant { return law.Debit(p.Grant, p.Request) },
		model: (*Model).Debit,
		begin: func(t Tally) { expectVerdicts(t, "debit") },
		grade: func(t Tally, p Pair, _ law.Grant) { t[verdictName("debit", int(law.Judge(p.Grant, p.Request)))]++ },
	},
	pairing[Two, int64]{
		title: "seed", weight: 8, draw: of(two), same: equal[int64], corner: seedBoundaries,
		goes:  func(t Two) int64 { return law.Seed(t.A, t.B) },
		model: (*Model).Seed,
	},
	pairing[Two, int64]{
		title: "plus", weight: 8, draw: of(two), same: equal[int64], corner: plusBoundaries,
		goes:  func(t Two) int64 { return law.Plus(t.A, t.B) },
		model: (*Model).Plus,
	},
}

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
	Seed int64  // of the batches in which it was met
	What string // law, input and both answers
}

// Error renders the difference for a reader.
func (d *Difference) Error() string { return fmt.Sprintf("drift: seed %d: %s", d.Seed, d.What) }

// A job is some batches of one law from one seed.
type job struct {
	law     comparison
	seed    int64
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
		return &Difference{j.seed, strings.Join(result.Labels, "; ")}
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
			j := job{c, seed*int64(len(comparisons)) + int64(i), max(1, batches*c.share()/100)}
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
