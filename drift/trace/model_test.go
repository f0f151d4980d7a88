package trace

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"world/broker/law"
	"world/drift"
	"world/spec"
	"world/spec/smtlib"
	"world/z3"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What random states and events are made of: little, so that they meet.
var (
	someHeld = []Held{
		{"s1", law.Grant{Effect: "Read", Scope: "docs", ExpiresAt: 9, Budget: 3}},
		{"s2", law.Grant{Effect: "Read", Scope: "docs", ExpiresAt: 9, Budget: 5}},
		{"s1", law.Grant{Effect: "Write", Scope: "docs", ExpiresAt: math.MaxInt64, Budget: math.MaxInt64}},
		{"s2", law.Grant{Effect: "Write", Scope: "src", ExpiresAt: 9, Budget: -1}},
	}
	someSessions = []string{"s1", "s2"}
	someIDs      = []string{"a", "b"}
	someNumbers  = []int64{0, 1, 2, 3, math.MaxInt64, -1}
	kinds        = []Kind{Mint, Revoke, SeedAll, Deny, Intend, Run, Finish, Crash, Restart, Takeover, Reconcile, Replay}
)

func pick[T any](r *rand.Rand, of []T) T { return of[r.Intn(len(of))] }

func someState(r *rand.Rand) *State {
	s := Begins()
	s.Epoch, s.Up = pick(r, []int64{0, 1, 1, 2, math.MaxInt64}), r.Intn(8) > 0
	for _, h := range someHeld {
		s.Grants[h] = r.Intn(4) > 0
		s.Largest[keyOf(h)], s.Spent[keyOf(h)] = pick(r, someNumbers), pick(r, append(someNumbers, 0, 0, 0))
	}
	for _, by := range someSessions {
		s.Ended[by] = r.Intn(5) == 0
	}
	for _, id := range someIDs {
		s.Life[id], s.Made[id] = Life(max(0, r.Intn(8)-2)), pick(r, []int64{0, 1, 1, 2})
		s.Runs[id], s.Outcomes[id] = pick(r, []int64{0, 1, 1, 2}), pick(r, []int64{0, 1, 1, 2})
	}
	return s
}

func someEvent(r *rand.Rand, s *State) Event {
	e := Event{Kind: pick(r, append(kinds, Intend, Intend, Intend)), Under: s.Epoch, ID: pick(r, someIDs), Held: pick(r, someHeld), Session: pick(r, someSessions), Known: r.Intn(2) == 0}
	if r.Intn(4) == 0 {
		e.Under = pick(r, []int64{0, 1, 2})
	}
	e.Asked = law.Request{Effect: e.Held.Grant.Effect, Scope: e.Held.Grant.Scope, Cost: pick(r, someNumbers), Now: pick(r, []int64{0, 1, 8, 8, 9, -1})}
	return e
}

// The model's terms.
var lives = []string{"absent", "intended", "started", "settled", "unclear", "closed"}

func keyTerm(k Key) string {
	return "(key " + smtlib.Quote(string(k.Effect)) + " " + smtlib.Quote(string(k.Scope)) + ")"
}

func heldTerm(h Held) string {
	return "(held " + smtlib.Quote(h.Session) + " " + drift.GrantTerm(h.Grant) + ")"
}

// arrayTerm writes an array whose other elements are zero.
func arrayTerm[K comparable, V any](of string, zero string, m map[K]V, key func(K) string, value func(V) string) string {
	out := "((as const (Array " + of + ")) " + zero + ")"
	for k, v := range m {
		out = "(store " + out + " " + key(k) + " " + value(v) + ")"
	}
	return out
}

func truth(b bool) string { return fmt.Sprint(b) }

func stateTerm(s *State) string {
	byText := func(m map[string]int64) string {
		return arrayTerm("Text Num", "zero", m, smtlib.Quote, drift.Num)
	}
	return "(state " + strings.Join([]string{
		drift.Num(s.Epoch), truth(s.Up),
		arrayTerm("Held Bool", "false", s.Grants, heldTerm, truth), arrayTerm("Text Bool", "false", s.Ended, smtlib.Quote, truth),
		arrayTerm("Key Num", "zero", s.Largest, keyTerm, drift.Num), arrayTerm("Key Num", "zero", s.Spent, keyTerm, drift.Num),
		arrayTerm("Text Life", "absent", s.Life, smtlib.Quote, func(l Life) string { return lives[l] }),
		byText(s.Made), byText(s.Runs), byText(s.Outcomes),
	}, " ") + ")"
}

func eventTerm(e Event) string {
	id, under := smtlib.Quote(e.ID), drift.Num(e.Under)
	switch e.Kind {
	case Mint:
		return "(mint " + heldTerm(e.Held) + ")"
	case Revoke:
		return "(revoke " + smtlib.Quote(e.Session) + ")"
	case Deny:
		return "(deny " + heldTerm(e.Held) + " " + drift.RequestTerm(e.Asked) + ")"
	case Intend:
		return "(intend " + under + " " + id + " " + heldTerm(e.Held) + " " + drift.RequestTerm(e.Asked) + ")"
	case Run, Reconcile:
		return "(" + string(e.Kind) + " " + under + " " + id + ")"
	case Finish:
		return "(finish-effect " + under + " " + id + " " + truth(e.Known) + ")"
	}
	return string(e.Kind)
}

// seen is everything that can be told of a state, by the name of the model's term
// over the state %s.
func seen(s *State) map[string]string {
	out := map[string]string{"(epoch %s)": drift.Num(s.Epoch), "(up %s)": truth(s.Up)}
	for _, h := range someHeld {
		k := keyTerm(keyOf(h))
		out["(select (grants %s) "+heldTerm(h)+")"] = truth(s.Grants[h])
		out["(select (largest %s) "+k+")"] = drift.Num(s.Largest[keyOf(h)])
		out["(select (spent %s) "+k+")"] = drift.Num(s.Spent[keyOf(h)])
		out["(spend-bounded %s "+k+")"] = truth(s.spendBounded(keyOf(h)))
		out["(largest-known %s "+heldTerm(h)+")"] = truth(s.largestKnown(h))
	}
	for _, by := range someSessions {
		out["(select (ended %s) "+smtlib.Quote(by)+")"] = truth(s.Ended[by])
	}
	for _, id := range someIDs {
		q := smtlib.Quote(id)
		out["(select (life %s) "+q+")"] = lives[s.Life[id]]
		out["(select (made %s) "+q+")"] = drift.Num(s.Made[id])
		out["(select (runs %s) "+q+")"] = drift.Num(s.Runs[id])
		out["(select (outcomes %s) "+q+")"] = drift.Num(s.Outcomes[id])
		out["(tidy %s "+q+")"] = truth(s.tidy(id))
		out["(dated %s "+q+")"] = truth(s.dated(id))
	}
	return out
}

// The transcription answers as the model does, on random states and events: every
// step, everything that it leaves, and every invariant.
func TestTheTranscriptionIsTheModel(t *testing.T) {
	book, err := spec.Load(spec.Embedded())
	if err != nil {
		t.Fatal(err)
	}
	const samples = 600
	r := rand.New(rand.NewSource(1))
	lawful := map[Kind][2]int{}
	var definitions strings.Builder
	var terms, wants []string
	for n := range samples {
		s := someState(r)
		e := someEvent(r, s)
		fmt.Fprintf(&definitions, "(define-fun s%d () State %s)\n(define-fun e%d () Event %s)\n(define-fun a%d () State (after-event s%d e%d))\n",
			n, stateTerm(s), n, eventTerm(e), n, n, n)
		may := s.May(e)
		terms, wants = append(terms, fmt.Sprintf("(may s%d e%d)", n, n)), append(wants, truth(may))
		met := lawful[e.Kind]
		met[map[bool]int{true: 1}[may]]++
		lawful[e.Kind] = met
		s.After(e)
		left := seen(s)
		for _, form := range slices.Sorted(maps.Keys(left)) {
			terms, wants = append(terms, fmt.Sprintf(form, fmt.Sprintf("a%d", n))), append(wants, left[form])
		}
	}
	always := map[Kind]bool{Revoke: true, SeedAll: true, Crash: true, Takeover: true, Replay: true}
	for _, k := range kinds {
		if lawful[k][1] == 0 || lawful[k][0] == 0 && !always[k] {
			t.Errorf("%s was lawful %d times and unlawful %d times", k, lawful[k][1], lawful[k][0])
		}
	}
	p, err := z3.Z3("z3").Start(context.Background(), time.Minute, "the transcription")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	script := book.Script(spec.BV64, spec.String, "decision", "seeding", "journal", "invariants/journal")
	if err := p.Tell(append(script, spec.Chunk{File: "the samples", Text: definitions.String()})...); err != nil {
		t.Fatal(err)
	}
	different := 0
	for at := 0; at < len(terms); at += 500 {
		end := min(at+500, len(terms))
		values, err := p.Values(terms[at:end])
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			if v.String() != wants[at+i] && different < 10 {
				t.Errorf("%s is %s in the model and %s in Go", terms[at+i], v, wants[at+i])
				different++
			}
		}
	}
	t.Logf("%d terms of %d samples compared", len(terms), samples)
}
