package drift

import (
	"context"
	"fmt"
	"math"
	"math/rand"
	"path/filepath"
	"testing"
	"time"

	"world/broker/law"
	"world/fault"
	"world/store"
	"world/store/sqlite"
	"world/z3"
)

// engines are the stores whose guard of transaction 1 is compared with the model.
var engines = map[string]func(ctx context.Context, t *testing.T) (store.Store, error){
	"sqlite": func(ctx context.Context, t *testing.T) (store.Store, error) {
		return sqlite.Open(ctx, filepath.Join(t.TempDir(), "world.db"), sqlite.Options{})
	},
}

// spending is one attempt to spend: what was minted, spent before, and asked now.
type spending struct{ Budget, Spent, Cost int64 }

// key gives each attempt an (effect, scope) of its own.
func key(i int) (law.Effect, law.Scope) { return law.Effect(fmt.Sprint("Effect.", i)), "worktree" }

// The guard in the database and the law must admit the same spending: the guard
// is what decides when two calls meet.
func TestTheStoresGuardIsTheLaw(t *testing.T) {
	attempts := []spending{
		{5, 0, 5}, {5, 5, 0}, {5, 5, 1}, {5, 4, 1}, {5, 4, 2}, {0, 0, 0}, {0, 0, 1}, {5, 7, 0}, {5, 7, 1},
		{-1, 0, 0}, {-1, 0, 1}, {math.MinInt64, 3, 0}, {math.MinInt64, 3, 1}, {math.MinInt64, math.MaxInt64, 0},
		{math.MaxInt64, math.MaxInt64, 0}, {math.MaxInt64, math.MaxInt64, 1}, {math.MaxInt64, 1, math.MaxInt64},
		{math.MaxInt64, 1, math.MaxInt64 - 1}, {math.MaxInt64, 0, math.MaxInt64}, {3, math.MaxInt64, 1},
	}
	r := rand.New(rand.NewSource(*seed))
	for range 280 {
		s := spending{Spent: max(0, number(r, 3))}
		s.Budget = number(r, s.Spent)
		s.Cost = max(0, number(r, s.Budget-s.Spent))
		attempts = append(attempts, s)
	}
	m := open(t, book(t), z3.Z3("z3"))
	grants := make([]string, len(attempts))
	for i, a := range attempts {
		e, s := key(i)
		g := grantTerm(law.Grant{Effect: e, Scope: s, ExpiresAt: 1000, Budget: a.Budget})
		q := requestTerm(law.Request{Effect: e, Scope: s, Cost: a.Cost, Now: 100})
		grants[i] = "(single (plus " + num(a.Spent) + " (spend (seeded " + g + " " + num(a.Spent) + ") " + q + ")) (seeded " + g + " " + num(a.Spent) + ") " + q + ")"
	}
	// The answer holds the verdict, and in the place of an index the new total.
	want, err := evaluate(m, grants, func(term string) string { return term }, readDecision)
	if err != nil {
		t.Fatal(err)
	}
	for name, engine := range engines {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			s, err := engine(ctx, t)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			l := begin(ctx, t, s)
			admitted := 0
			for i, a := range attempts {
				if a.Spent > 0 {
					if err := l.spend(ctx, i, "before", a.Spent, math.MaxInt64); err != nil {
						t.Fatal(err)
					}
				}
				err := l.spend(ctx, i, "now", a.Cost, a.Budget)
				if err != nil && !fault.Is(err, fault.OverBudget) {
					t.Fatal(err)
				}
				if err == nil {
					admitted++
				}
				if allowed := want[i].Verdict == law.Allowed; allowed != (err == nil) {
					t.Errorf("%+v: the model says %v, the store %v", a, want[i].Verdict.Label(), err)
				}
			}
			ledger, err := s.Ledger(ctx, l.lease.Episode)
			if err != nil {
				t.Fatal(err)
			}
			for i, a := range attempts {
				if got := ledger.Of(key(i)); got != int64(want[i].Grant) {
					t.Errorf("%+v: the store has %d spent, the model %d", a, got, want[i].Grant)
				}
			}
			if admitted < len(attempts)/5 || admitted > len(attempts)*4/5 {
				t.Errorf("%d of %d admitted: the attempts are one-sided", admitted, len(attempts))
			}
		})
	}
}

// ledgerUnderTest is a store with what an intent needs.
type ledgerUnderTest struct {
	store.Store
	source, session store.Object
	lease           store.Lease
}

func begin(ctx context.Context, t *testing.T, s store.Store) *ledgerUnderTest {
	t.Helper()
	l := &ledgerUnderTest{Store: s, source: object("the source"), session: object("the session")}
	draft := store.Draft{SemanticsEpoch: 1, TransitionFn: l.source.Ref(), Interpreter: l.source.Ref(), WrittenBy: "host:test", Transition: l.source.Ref(), StateRoot: l.session.Ref()}
	if _, err := s.Begin(ctx, store.Act{Objects: []store.Object{l.source, l.session}, Draft: draft}); err != nil {
		t.Fatal(err)
	}
	var err error
	if l.lease, err = s.Lease(ctx, "ep-1"); err != nil {
		t.Fatal(err)
	}
	return l
}

func object(text string) store.Object {
	return store.NewObject("world/test/v1", "host:test", []byte(text))
}

// spend opens an intent of some cost on the key of attempt i.
func (l *ledgerUnderTest) spend(ctx context.Context, i int, what string, cost, budget int64) error {
	task := fmt.Sprintf("%d-%s", i, what)
	input, request := object("input of "+task), object("request of "+task)
	e, s := key(i)
	_, err := l.Intend(ctx, store.Intention{
		Claim: store.Claim{
			Invocation: store.NewInvocationID(store.SurfaceMCP, l.lease.Episode, task), Episode: l.lease.Episode, Transition: "tools.read",
			TransitionFn: l.source.Ref(), Input: input.Ref(), Session: l.session.Ref(), At: 100,
		},
		Objects: []store.Object{input, request}, Effect: e, Scope: s, Cost: cost, Budget: budget, Request: request.Ref(), Lease: l.lease,
	})
	return err
}
