package drift

import (
	"fmt"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
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
type pairing[In any, Out comparable] struct {
	title  string
	weight int
	draw   gopter.Gen
	goes   func(In) Out
	model  func(*Model, []In) ([]Out, error)
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
			if got != want[i] {
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
