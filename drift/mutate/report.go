package mutate

import (
	"fmt"
	"slices"
)

// GoReport sums up the mutants of a package.
type GoReport struct {
	Mutants    int
	Refuted    int // by validation, with an input
	Confirmed  int // of those, by running the mutant on that input
	Refused    int
	Equivalent int
	Killed     int // by sampling, equivalent ones aside
	Median     int // inputs to kill
	Most95     int // inputs within which 95 of 100 killed mutants are
	Most       int
	Survivors  []GoResult
}

// ReportGo sums up results.
func ReportGo(results []GoResult) GoReport {
	r := GoReport{Mutants: len(results)}
	var inputs []int
	for _, m := range results {
		switch m.Fate {
		case Refuted:
			r.Refuted++
		case Refused:
			r.Refused++
		case Equivalent:
			r.Equivalent++
		}
		if m.Confirmed {
			r.Confirmed++
		}
		if m.KilledAt > 0 {
			inputs = append(inputs, m.KilledAt)
		}
		if m.Survived() {
			r.Survivors = append(r.Survivors, m)
		}
	}
	slices.Sort(inputs)
	if r.Killed = len(inputs); r.Killed > 0 {
		r.Median, r.Most95, r.Most = inputs[(r.Killed-1)/2], inputs[(r.Killed-1)*95/100], inputs[r.Killed-1]
	}
	return r
}

// String renders the report on two lines.
func (r GoReport) String() string {
	return fmt.Sprintf("%d mutants: %d refuted by validation (%d with an input confirmed by running it), %d refused, %d proved equivalent\n"+
		"  sampling alone killed %d; inputs to kill: median %d, 95th percentile %d, most %d; survivors: %d",
		r.Mutants, r.Refuted, r.Confirmed, r.Refused, r.Equivalent, r.Killed, r.Median, r.Most95, r.Most, len(r.Survivors))
}

// SMTReport sums up the mutants of a model.
type SMTReport struct {
	Mutants    int // that a solver accepts
	Breaking   int
	Equivalent int
	Survivors  []SMTResult
}

// ReportSMT sums up results.
func ReportSMT(results []SMTResult) SMTReport {
	var r SMTReport
	for _, m := range results {
		if !m.Accepted {
			continue
		}
		r.Mutants++
		switch {
		case m.Breaks != "":
			r.Breaking++
		case m.Equivalent:
			r.Equivalent++
		default:
			r.Survivors = append(r.Survivors, m)
		}
	}
	return r
}

// String renders the report on one line.
func (r SMTReport) String() string {
	return fmt.Sprintf("%d mutants: %d break a theorem, %d proved equivalent; survivors: %d", r.Mutants, r.Breaking, r.Equivalent, len(r.Survivors))
}
