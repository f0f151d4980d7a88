package mutate

import (
	"context"
	"reflect"

	"world/drift"
	"world/drift/ssasmt"
	"world/drift/validate"
	"world/fault"
	"world/spec"
)

func draw(ctx context.Context, subject validate.Subject, book *spec.Book, o Options) ([]question, error) {
	model, err := drift.Open(ctx, book, o.Z3, o.Limit)
	if err != nil {
		return nil, err
	}
	defer model.Close()
	drawn, err := drift.Stream(model, subject.Package, o.Seed, o.Inputs)
	if err != nil {
		return nil, err
	}
	return prepare(drawn), nil
}

// question is a sampled question in the machine's values.
type question struct {
	name string
	args []any
	want any
	nth  int // of the input, from 1
}

func prepare(drawn []drift.Question) []question {
	var out []question
	for n, q := range drawn {
		for _, c := range q.Calls {
			p := question{name: c.Func, want: any(ssasmt.Panicked{}), nth: n + 1}
			if c.Want != drift.Panics {
				p.want = ssasmt.ValueOf(c.Want)
			}
			for _, a := range c.Args {
				p.args = append(p.args, ssasmt.ValueOf(a))
			}
			out = append(out, p)
		}
	}
	return out
}

// killedAt runs a variant on the questions and returns the number of the first
// input on which it does not answer as the model, 0 if there is none. A variant
// that panics, does not end or does what the machine refuses has not answered.
func killedAt(source *ssasmt.Source, questions []question) (int, error) {
	checked, err := source.Check()
	if err != nil {
		return 0, err
	}
	machine := checked.Machine(budget)
	for _, q := range questions {
		got, err := machine.Call(q.name, q.args...)
		if err != nil && !fault.Is(err, fault.Limit) {
			return 0, err
		}
		if err != nil || !reflect.DeepEqual(got, q.want) {
			return q.nth, nil
		}
	}
	return 0, nil
}

// kills checks that the law itself survives its own sample: a mutant that dies
// of it would show nothing otherwise.
func kills(source *ssasmt.Source, questions []question) (int, error) {
	if len(questions) == 0 {
		return 0, fault.New("mutate: sample", fault.Invalid, "nothing is sampled about %s", source.Path)
	}
	n, err := killedAt(source, questions)
	if err == nil && n != 0 {
		err = fault.New("mutate: sample", fault.Failed, "input %d kills the law itself", n)
	}
	return n, err
}
