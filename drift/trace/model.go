package trace

import (
	"math"

	"world/broker/law"
)

// The transcription of spec/z3/journal.smt2, name by name.

// Key is what spend is kept by.
type Key struct {
	Effect law.Effect
	Scope  law.Scope
}

// Held is a grant of a session.
type Held struct {
	Session string
	Grant   law.Grant
}

func keyOf(h Held) Key { return Key{h.Grant.Effect, h.Grant.Scope} }

// Life is how far an intent has come.
type Life int

// The lives of an intent.
const (
	Absent Life = iota
	Intended
	Started
	Settled
	Unclear
	Closed
)

func (l Life) open() bool { return l == Intended || l == Started }

// State is what is durable of one episode. What is not in a map is zero.
type State struct {
	Epoch    int64
	Up       bool
	Grants   map[Held]bool
	Ended    map[string]bool
	Largest  map[Key]int64
	Spent    map[Key]int64
	Life     map[string]Life
	Made     map[string]int64
	Runs     map[string]int64
	Outcomes map[string]int64
}

// Begins is an episode before its first event.
func Begins() *State {
	return &State{Up: true, Grants: map[Held]bool{}, Ended: map[string]bool{}, Largest: map[Key]int64{}, Spent: map[Key]int64{},
		Life: map[string]Life{}, Made: map[string]int64{}, Runs: map[string]int64{}, Outcomes: map[string]int64{}}
}

// Kind is the kind of an event.
type Kind string

// The events, by the model's names.
const (
	Mint      Kind = "mint"
	Revoke    Kind = "revoke"
	SeedAll   Kind = "seed-grants"
	Deny      Kind = "deny"
	Intend    Kind = "intend"
	Run       Kind = "run"
	Finish    Kind = "finish-effect"
	Crash     Kind = "crash"
	Restart   Kind = "restart"
	Takeover  Kind = "takeover"
	Reconcile Kind = "reconcile"
	Replay    Kind = "replay"
)

// Event is one step; which fields count is the kind's.
type Event struct {
	Kind    Kind
	Under   int64  // epoch that the writer holds
	ID      string // of the intent
	Held    Held
	Session string
	Asked   law.Request
	Known   bool // whether the outcome is known
}

func (s *State) allows(h Held, r law.Request) bool {
	g := h.Grant
	g.Budget = law.Seed(g.Budget, s.Spent[keyOf(h)])
	return s.Grants[h] && !s.Ended[h.Session] && law.Judge(g, r) == law.Allowed
}

// May reports whether an event is lawful.
func (s *State) May(e Event) bool {
	switch e.Kind {
	case Restart:
		return !s.Up && s.Epoch < math.MaxInt64
	case Takeover:
		return s.Epoch < math.MaxInt64
	case Replay:
		return true
	}
	if !s.Up {
		return false
	}
	life := s.Life[e.ID]
	switch e.Kind {
	case Mint:
		return !s.Ended[e.Held.Session] && e.Held.Grant.Budget >= 0
	case Deny:
		return !s.allows(e.Held, e.Asked)
	case Intend:
		return e.Under == s.Epoch && life == Absent && s.allows(e.Held, e.Asked)
	case Run:
		return e.Under == s.Epoch && life == Intended && s.Made[e.ID] == s.Epoch
	case Finish:
		return e.Under == s.Epoch && life.open() && s.Made[e.ID] == s.Epoch
	case Reconcile:
		return e.Under == s.Epoch && (life == Unclear || life.open() && s.Made[e.ID] != s.Epoch)
	}
	return true
}

// After changes the state by an event; an unlawful one changes nothing.
func (s *State) After(e Event) {
	if !s.May(e) {
		return
	}
	switch e.Kind {
	case Mint:
		s.Grants[e.Held] = true
		if k := keyOf(e.Held); s.Largest[k] < e.Held.Grant.Budget {
			s.Largest[k] = e.Held.Grant.Budget
		}
	case Revoke:
		s.Ended[e.Session] = true
	case Intend:
		k := keyOf(e.Held)
		s.Spent[k] = law.Plus(s.Spent[k], e.Asked.Cost)
		s.Life[e.ID], s.Made[e.ID] = Intended, s.Epoch
	case Run:
		s.Life[e.ID] = Started
		s.Runs[e.ID]++
	case Finish:
		s.Life[e.ID] = Unclear
		if e.Known {
			s.Life[e.ID] = Settled
		}
		s.Outcomes[e.ID]++
	case Crash:
		s.Up = false
	case Restart:
		s.Up = true
		s.Epoch++
	case Takeover:
		s.Epoch++
	case Reconcile:
		s.Life[e.ID] = Closed
	}
}
