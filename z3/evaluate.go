package z3

import (
	"strings"

	"world/fault"
	"world/spec"
	"world/spec/smtlib"
)

// Values computes closed terms under what has been told, one value a term, in
// order. Some hundreds of terms a call are fastest. It asks for a model first,
// so nothing may be told or asserted afterwards.
func (s *Process) Values(terms []string) ([]smtlib.Node, error) {
	if len(terms) == 0 {
		return nil, nil
	}
	if !s.modelled {
		if a, err := s.CheckSat(); err != nil || a != Sat {
			if err == nil {
				err = s.fault(fault.Failed, nil, "finds definitions %s", a)
			}
			return nil, err
		}
		s.modelled = true
	}
	text := "(get-value (" + strings.Join(terms, "\n") + "))\n"
	answers, err := s.Ask(spec.Chunk{File: "a term", Text: text})
	if err != nil {
		return nil, err
	}
	if len(answers) != 1 || len(answers[0].List) != len(terms) {
		return nil, s.fault(fault.Failed, nil, "does not answer %d terms with as many values", len(terms))
	}
	values := make([]smtlib.Node, len(terms))
	for i, pair := range answers[0].List {
		if len(pair.List) != 2 {
			return nil, s.fault(fault.Failed, nil, "answers a term with %s", pair)
		}
		values[i] = pair.List[1]
	}
	return values, nil
}
