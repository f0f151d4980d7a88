package storetest

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"world/fault"
	"world/store"
)

// RunShared is the part of the contract that an engine adds which lets several
// processes write one store. Here each call of an Opener is another process,
// beside the ones before it. They give a lease up when another asks for it and it
// is not in use.
func RunShared(t *testing.T, fresh func(t *testing.T) Opener) {
	tests := []struct {
		name string
		run  func(t *testing.T, open Opener)
	}{
		{"OneChain", oneChain},
		{"OneHolder", oneHolder},
		{"OneClaim", oneClaim},
		{"OneGenesis", oneGenesis},
		{"SharedEvidence", sharedEvidence},
		{"SharedBudget", sharedBudget},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, fresh(t)) })
	}
}

// beside is the same world as another process sees it.
func (w *world) beside(t testing.TB, open Opener) *world {
	t.Helper()
	other := *w
	other.Store = open(t)
	t.Cleanup(func() { other.Close() })
	return &other
}

func oneChain(t *testing.T, open Opener) {
	w := opened(t, open)
	processes := []*world{w, w.beside(t, open), w.beside(t, open)}
	const callers, rounds = 6, 15
	for _, err := range crowd(callers, func(i int) error {
		p := processes[i%len(processes)]
		for round := range rounds {
			task := fmt.Sprintf("%d-%d", i, round)
			if i%2 == 0 {
				if _, err := p.Commit(p.ctx, p.pure(task)); err != nil {
					return err
				}
			} else if _, err := p.act(1, task, store.MoveRegistry{Name: task, To: w.source.Ref()}); err != nil {
				return err
			}
		}
		return nil
	}) {
		ok(t, err)
	}
	for _, p := range processes {
		equal(t, "entries", len(p.checkChain(t)), 1+callers*rounds)
	}
}

func oneHolder(t *testing.T, open Opener) {
	w := opened(t, open)
	other := w.beside(t, open)
	first := w.lease()
	_, err := other.Lease(w.ctx, episode)
	wantKind(t, "lease of a live holder", err, fault.InFlight)
	second, err := other.Lease(w.ctx, "ep-2")
	ok(t, err)

	// The epoch alone does not make a holder.
	before := w.state()
	_, err = other.Intend(w.ctx, w.intention("1", 10, first))
	wantKind(t, "intent under another's lease", err, fault.LeaseLost)
	wantKind(t, "another's lease given up", other.GiveUp(w.ctx, first), fault.LeaseLost)
	in, intent := w.intend("1")
	_, err = other.Commit(w.ctx, w.finish(in, intent))
	wantKind(t, "commit under another's lease", err, fault.LeaseLost)
	lost, err := other.Indeterminate(w.ctx, 500)
	ok(t, err)
	equal(t, "indeterminate while another process runs it", len(lost), 0)
	if before == w.state() {
		t.Fatal("the holder's own intent changed nothing")
	}

	ok(t, w.GiveUp(w.ctx, first))
	taken, err := other.Lease(w.ctx, episode)
	ok(t, err)
	if taken.Epoch <= first.Epoch {
		t.Fatalf("epoch %d after %d", taken.Epoch, first.Epoch)
	}
	before = w.state()
	_, err = w.Commit(w.ctx, w.finish(in, intent))
	wantKind(t, "commit of the earlier holder", err, fault.LeaseLost)
	_, err = w.Intend(w.ctx, w.intention("2", 10, first))
	wantKind(t, "intent of the earlier holder", err, fault.LeaseLost)
	equal(t, "state", w.state(), before)
	lost, err = w.Indeterminate(w.ctx, 500)
	ok(t, err)
	equal(t, "indeterminate after a takeover", len(lost), 1)

	// What ends ends for all: the other process closes, and its leases are free.
	ok(t, other.GiveUp(w.ctx, second))
	ok(t, other.Close())
	_, err = w.Lease(w.ctx, episode)
	ok(t, err)
}

func oneClaim(t *testing.T, open Opener) {
	w := opened(t, open)
	processes := []*world{w, w.beside(t, open)}
	for round := range 10 {
		task := fmt.Sprint(round)
		won := 0
		for _, err := range crowd(6, func(i int) error {
			p := processes[i%2]
			_, err := p.Commit(p.ctx, p.pure(task))
			return err
		}) {
			if err == nil {
				won++
				continue
			}
			wantKind(t, "second claim", err, fault.Conflict)
		}
		equal(t, "claims of one id", won, 1)
	}
	equal(t, "entries", len(w.checkChain(t)), 11)
}

func oneGenesis(t *testing.T, open Opener) {
	w := resumed(t, open)
	processes := []*world{w, w.beside(t, open), w.beside(t, open)}
	won := 0
	for _, err := range crowd(len(processes), func(i int) error {
		p := processes[i]
		about := text("world/genesis/v1", fmt.Sprint("genesis of ", i))
		_, err := p.Begin(p.ctx, store.Act{Objects: []store.Object{p.source, p.interpreter, about}, Draft: p.draft(about, about)})
		return err
	}) {
		if err == nil {
			won++
			continue
		}
		wantKind(t, "second genesis", err, fault.Conflict)
	}
	equal(t, "geneses", won, 1)
	equal(t, "entries", len(w.checkChain(t)), 1)
}

// sharedEvidence holds that sessions, the registry and objects are everybody's.
func sharedEvidence(t *testing.T, open Opener) {
	w := opened(t, open)
	other := w.beside(t, open)
	o := text("world/session/v1", "one session")
	mint := store.MintSession{Session: store.Session{Credential: credential(1), Object: o.Ref(), Episode: episode, CreatedAt: 1, ExpiresAt: 2}}
	_, err := w.Act(w.ctx, store.Act{Objects: []store.Object{o}, Draft: w.draft(o, o), Changes: []store.Change{mint}})
	ok(t, err)
	s, err := other.Session(w.ctx, credential(1))
	ok(t, err)
	equal(t, "session", s, mint.Session)
	other.checkLook(t, store.Lookup{Session: credential(1), Ledger: episode})
	before, err := w.Look(w.ctx, store.Lookup{Session: credential(1), Registries: []string{"shared"}})
	ok(t, err)
	equal(t, "session beside others", before.Session, mint.Session)
	_, err = other.act(5, "move", store.MoveRegistry{Name: "shared", To: w.source.Ref()})
	ok(t, err)
	_, err = other.act(5, "revoke", store.RevokeSession{Credential: credential(1), Revocation: w.source.Ref()})
	ok(t, err)
	s, err = w.Session(w.ctx, credential(1))
	ok(t, err)
	equal(t, "revocation", s.Revocation, w.source.Ref())
	after, err := w.Look(w.ctx, store.Lookup{Session: credential(1), Registries: []string{"shared"}})
	ok(t, err)
	equal(t, "revocation by another process", after.Session.Revocation, w.source.Ref())
	equal(t, "move by another process", after.Registries[0], w.source.Ref())
	equal(t, "time of another process", after.At, 5)
	_, err = w.act(5, "revoke again", store.RevokeSession{Credential: credential(1), Revocation: w.source.Ref()})
	wantKind(t, "second revocation", err, fault.Conflict)

	// A session that another process revoked takes no intent more, whatever this
	// process remembers of it.
	mint.Session.Credential, mint.Session.Object = credential(2), w.session.Ref()
	_, err = w.Act(w.ctx, store.Act{Objects: []store.Object{w.session}, Draft: w.draft(w.session, w.session), Changes: []store.Change{mint}})
	ok(t, err)
	in := w.intention("1", 10, w.lease())
	in.Credential = credential(2)
	_, err = w.Intend(w.ctx, in)
	ok(t, err)
	_, err = other.act(5, "revoke the caller", store.RevokeSession{Credential: credential(2), Revocation: w.source.Ref()})
	ok(t, err)
	in = w.intention("2", 10, w.lease())
	in.Credential = credential(2)
	_, err = w.Intend(w.ctx, in)
	wantKind(t, "intent of a session that another process revoked", err, fault.Unauthenticated)
	w.checkLedger(t)

	// Equal bytes from two processes are one object with both labels.
	for _, err := range crowd(8, func(i int) error {
		return []*world{w, other}[i%2].Keep(w.ctx, []store.Object{store.NewObject("world/test/v1", fmt.Sprint("by ", i), []byte("the same"))})
	}) {
		ok(t, err)
	}
	labels, err := w.Labels(w.ctx, store.RefOf([]byte("the same")))
	ok(t, err)
	equal(t, "labels", len(labels), 8)
}

// sharedBudget lets two processes of eight callers each spend and read one budget,
// the lease going to and fro, and asks whether the history obeys the model of a
// budget. An outcome that is not known is an interval that never ends.
func sharedBudget(t *testing.T, open Opener) {
	w := opened(t, open)
	SpendTogether(t, w.ctx, []store.Store{w.Store, w.beside(t, open).Store}, 100)
}

// SpendTogether lets eight callers on each store, all of one world, spend and read
// one budget of so many units until it is gone, and holds the history to the model
// of a budget. Callers outlast faults; what is uncertain stays open in the history.
func SpendTogether(t testing.TB, ctx context.Context, processes []store.Store, budget int64) {
	t.Helper()
	start := time.Now()
	callers := 8 * len(processes)
	history := make([][]porcupine.Operation, callers)
	var granted, unknown atomic.Int64
	took := make([]atomic.Bool, len(processes))
	errs := crowd(callers, func(i int) error {
		w := newWorld(t, ctx, processes[i%len(processes)])
		for round := 0; ; round++ {
			op := spendOp{cost: int64(1 + (i+round)%2), budget: budget}
			if round%8 == 7 {
				op = spendOp{cost: -1}
			}
			call := time.Since(start).Nanoseconds()
			out, err := w.spend(fmt.Sprintf("%d-%d", i, round), op)
			end := time.Since(start).Nanoseconds()
			switch {
			case fault.Is(err, fault.Uncertain):
				unknown.Add(op.cost)
				out, end = answer{uncertain: true}, math.MaxInt64
			case err != nil:
				return err
			case out.granted:
				granted.Add(op.cost)
				took[i%len(processes)].Store(true)
			}
			history[i] = append(history[i], porcupine.Operation{ClientId: i, Input: op, Call: call, Output: out, Return: end})
			if op.cost == 1 && !out.granted && !out.uncertain {
				return nil // not one unit is left
			}
		}
	})
	for _, err := range errs {
		ok(t, err)
	}
	w := newWorld(t, ctx, processes[0])
	w.checkLedger(t)
	if total := w.total(); total != budget || total < granted.Load() || total > granted.Load()+unknown.Load() {
		t.Fatalf("spend %d of %d, granted %d, uncertain %d", total, budget, granted.Load(), unknown.Load())
	}
	for i := range took {
		if !took[i].Load() {
			t.Fatalf("process %d spent nothing: the budget was not shared", i)
		}
	}
	var all []porcupine.Operation
	open := 0
	for _, h := range history {
		all = append(all, h...)
		for _, op := range h {
			if op.Return == math.MaxInt64 {
				open++
			}
		}
	}
	if open > 3 {
		t.Fatalf("%d outcomes are uncertain: with so many the model proves little", open)
	}
	model := sharedSpends.ToModel()
	if got := porcupine.CheckOperationsTimeout(model, all, 30*time.Second); got != porcupine.Ok {
		t.Fatalf("the history of the budget is %v:\n%v", got, all)
	}
	// The model can say no: an ordinal that was given twice is not lawful.
	for i := range all {
		if a := all[i].Output.(answer); a.granted && a.ordinal > 0 {
			a.ordinal--
			all[i].Output = a
			break
		}
	}
	if got := porcupine.CheckOperationsTimeout(model, all, 30*time.Second); got != porcupine.Illegal {
		t.Fatalf("a history with an ordinal given twice is %v", got)
	}
}

// answer is the output of an operation on a budget. A granted spend tells its
// ordinal, so that a history has few lawful orders and is quickly judged.
type answer struct {
	granted   bool
	ordinal   int64
	total     int64 // of a read
	uncertain bool  // nobody knows whether the spend was granted
}

// ledgerState is what the model of a shared budget remembers.
type ledgerState struct{ total, next int64 }

// sharedSpends is spendModel with ordinals, in which an uncertain spend was granted
// or not.
var sharedSpends = porcupine.NondeterministicModel{
	Init: func() []any { return []any{ledgerState{}} },
	Step: func(state, input, output any) []any {
		s, op, a := state.(ledgerState), input.(spendOp), output.(answer)
		if op.cost < 0 {
			if a.total == s.total && a.ordinal == s.next {
				return []any{s}
			}
			return nil
		}
		fits := op.cost <= max(op.budget-s.total, 0)
		spent := ledgerState{s.total + op.cost, s.next + 1}
		switch {
		case a.uncertain && fits:
			return []any{s, spent}
		case a.uncertain, !a.granted && !fits:
			return []any{s}
		case a.granted && fits && a.ordinal == s.next:
			return []any{spent}
		}
		return nil
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprint(input, " -> ", output) },
}

// newWorld is a world that begins where another began.
func newWorld(t testing.TB, ctx context.Context, s store.Store) *world {
	return &world{Store: s, t: t, ctx: ctx, source: text("world/transition-source/v1", "the source"),
		interpreter: text("world/interpreter/v1", "the interpreter"), session: text("world/session/v1", "the session")}
}

// spend does one operation, as often as it takes to have the lease for it. What is
// spent is finished at once, and the lease is free for whoever asks.
func (w *world) spend(task string, op spendOp) (answer, error) {
	for {
		if w.ctx.Err() != nil {
			return answer{}, fmt.Errorf("%s: %w", task, w.ctx.Err())
		}
		if op.cost < 0 {
			l, err := w.Ledger(w.ctx, episode)
			if fault.Is(err, fault.Unavailable) {
				time.Sleep(retryPause)
				continue
			}
			return answer{total: l.Of(effect, scope), ordinal: l.Next}, err
		}
		lease, err := w.Lease(w.ctx, episode)
		var in store.Intention
		var intent store.Intent
		if err == nil {
			in = w.intention(task, op.budget, lease)
			in.Cost = op.cost
			intent, err = w.Intend(w.ctx, in)
		}
		switch {
		case err == nil:
			_, err = w.Commit(w.ctx, w.finish(in, intent))
			for fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Uncertain) {
				time.Sleep(retryPause)
				_, err = w.Commit(w.ctx, w.finish(in, intent))
			}
			if fault.Is(err, fault.LeaseLost) || fault.Is(err, fault.Conflict) {
				err = nil // it stays spent all the same
			}
			if intent.Ordinal%4 == 3 {
				w.GiveUp(w.ctx, lease) // so that another process has its turn; it may be lost already
				time.Sleep(retryPause)
			}
			return answer{granted: true, ordinal: intent.Ordinal}, err
		case fault.Is(err, fault.OverBudget):
			return answer{}, nil
		case fault.Is(err, fault.InFlight), fault.Is(err, fault.LeaseLost), fault.Is(err, fault.Unavailable):
			time.Sleep(retryPause)
		default:
			return answer{}, err
		}
	}
}

// retryPause is between two tries of a caller that waits for a lease.
const retryPause = 2 * time.Millisecond
