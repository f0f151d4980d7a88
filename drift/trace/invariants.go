package trace

import "slices"

// The transcription of spec/z3/invariants/journal.smt2, name by name.

func (s *State) spendBounded(k Key) bool { return 0 <= s.Spent[k] && s.Spent[k] <= s.Largest[k] }

func (s *State) largestKnown(h Held) bool {
	return !s.Grants[h] || 0 <= h.Grant.Budget && h.Grant.Budget <= s.Largest[keyOf(h)]
}

func (s *State) tidy(id string) bool {
	l, r, o := s.Life[id], s.Runs[id], s.Outcomes[id]
	switch {
	case r != 0 && r != 1 || o != 0 && o != 1:
		return false
	case (l == Absent || l == Intended) && r != 0:
		return false
	case (l == Absent || l.open()) && o != 0:
		return false
	case l == Started && r != 1:
		return false
	case (l == Settled || l == Unclear) && o != 1:
		return false
	}
	return true
}

func (s *State) dated(id string) bool { return 0 <= s.Epoch && s.Made[id] <= s.Epoch }

// broken lists the invariants that do not hold, with what they do not hold of.
func (s *State) broken() []string {
	var out []string
	for k := range s.Spent {
		out = append(out, s.brokenOf(k)...)
	}
	for h := range s.Grants {
		out = append(out, s.brokenFor(h)...)
	}
	for id := range s.Life {
		out = append(out, s.brokenIn(id)...)
	}
	return out
}

// brokenBy is broken, of what an event is about.
func (s *State) brokenBy(e Event) []string {
	return slices.Concat(s.brokenOf(keyOf(e.Held)), s.brokenFor(e.Held), s.brokenIn(e.ID))
}

func (s *State) brokenOf(k Key) []string {
	if s.spendBounded(k) {
		return nil
	}
	return []string{"spend-bounded of " + string(k.Effect) + "=" + string(k.Scope)}
}

func (s *State) brokenFor(h Held) []string {
	if s.largestKnown(h) {
		return nil
	}
	return []string{"largest-known of " + string(h.Grant.Effect) + "=" + string(h.Grant.Scope)}
}

func (s *State) brokenIn(id string) []string {
	var out []string
	if !s.tidy(id) {
		out = append(out, "tidy of "+id)
	}
	if !s.dated(id) {
		out = append(out, "dated of "+id)
	}
	return out
}
