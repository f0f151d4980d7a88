package mutate

import (
	"reflect"

	"world/drift/ssasmt"
	"world/drift/validate"
	"world/fault"
)

// confirm runs a variant on the counterexample that a solver found against it,
// and reports whether it really answers other than the model.
func confirm(source *ssasmt.Source, c *validate.Counterexample) (bool, error) {
	checked, err := source.Check()
	if err != nil {
		return false, err
	}
	var args []any
	for _, a := range c.Args {
		args = append(args, a.Machine())
	}
	got, err := checked.Machine(budget).Call(c.Func.Name, args...)
	if fault.Is(err, fault.Limit) {
		return true, nil
	}
	want := any(ssasmt.Panicked{})
	if !c.MustPanic {
		want = c.Wanted.Machine()
	}
	return err == nil && !reflect.DeepEqual(got, want), err
}
