package relate

import (
	"context"
	"fmt"
)

// Undecided says what was tried and not settled.
type Undecided string

func (u Undecided) Error() string { return string(u) }

// Relation is how a law stands to another.
type Relation string

const (
	Equivalent   Relation = "equivalent"   // the same authority
	Narrower     Relation = "narrower"     // never more, sometimes less
	Wider        Relation = "wider"        // never less, sometimes more
	Incomparable Relation = "incomparable" // sometimes more, sometimes less
)

// Difference is what Diff found.
type Difference struct {
	Relation Relation
	More     *Witness // on which the law gives more than the base, nil if none can
	Less     *Witness // on which it gives less, nil if none can
	Told     *Witness // of equivalent laws that answer differently, such as with another denial
	Words    []string // functions beside the decision that differ: "label", "ask", "visible"
	Same     bool     // every answer is proved the same
}

// Diff relates a law to a base law. Authority that can neither be proved within
// the other's nor shown outside is Undecided.
func Diff(ctx context.Context, base, law Law, o Options) (Difference, error) {
	for _, l := range []Law{base, law} {
		if err := l.sound(ctx, o); err != nil {
			return Difference{}, err
		}
	}
	j, err := newJoint(ctx, base, law, o)
	defer j.close()
	if err != nil {
		return Difference{}, err
	}
	var d Difference
	if d.Less, err = j.direction(ctx, lessInB); err != nil {
		return d, err
	}
	if d.More, err = j.direction(ctx, lessInA); err != nil {
		return d, err
	}
	switch {
	case d.Less == nil && d.More == nil:
		d.Relation = Equivalent
	case d.More == nil:
		d.Relation = Narrower
	case d.Less == nil:
		d.Relation = Wider
	default:
		d.Relation = Incomparable
	}
	return d, j.tell(ctx, &d)
}

// sound tells the law to each solver by itself, so that a complaint is in its own
// words and about its own lines.
func (l Law) sound(ctx context.Context, o Options) error {
	for _, solver := range o.Solvers {
		s, err := solver.Start(ctx, o.Limit, l.file)
		if err != nil {
			return err
		}
		err = s.Tell(l.alone()...)
		s.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// direction proves that no grants and request are as it says, or finds some.
func (j *joint) direction(ctx context.Context, way way) (*Witness, error) {
	proved, err := j.never(ctx, way)
	if err != nil || proved {
		return nil, err
	}
	w, err := j.witness(ctx, way)
	if err == nil && w == nil {
		err = Undecided(fmt.Sprintf("%s: not proved, and no list of up to %d grants shows otherwise: that %s", j.b.file, maxGrants, way.claim))
	}
	return w, err
}

// tell adds what differs beside the authority.
func (j *joint) tell(ctx context.Context, d *Difference) error {
	for _, f := range []struct{ name, differs string }{
		{"label", "(not (= (a.label v) (b.label v)))"},
		{"visible", "(not (= (a.visible c) (b.visible c)))"},
		{"ask", "(not (= (a.ask t at) (b.ask t at)))"},
	} {
		same, err := j.unsat(ctx, f.name, "(declare-const v Verdict)\n(declare-const c Decision)\n(declare-const t Triple)\n(declare-const at Num)\n(assert "+f.differs+")\n")
		if err != nil {
			return err
		}
		if !same {
			d.Words = append(d.Words, f.name)
		}
	}
	same, err := j.never(ctx, told)
	if err != nil {
		return err
	}
	if !same && d.Relation == Equivalent {
		if d.Told, err = j.witness(ctx, told); err != nil {
			return err
		}
	}
	d.Same = same && len(d.Words) == 0
	return nil
}
