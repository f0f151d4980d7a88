package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"world/broker/law"
	"world/coordinator/coordtest"
	"world/fault"
	"world/session"
	"world/store"
	"world/store/engine"
	"world/store/postgres/pgtest"
	"world/store/record"
	"world/store/transfer"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// lived makes a small world with every kind of row, and returns its place.
func lived(t *testing.T) engine.Place {
	t.Helper()
	w := coordtest.New(t, coordtest.Handlers{coordtest.Write: &coordtest.Hand{}}, nil)
	live := w.Mint("ep", coordtest.Grant(coordtest.Write, coordtest.Scope, 3))
	w.Mint("other", coordtest.Grant(coordtest.Write, coordtest.Scope, 1))
	for i := range 4 { // the last one is denied
		w.Must(live, coordtest.Act, fmt.Sprint("task", i), `{"do":"x"}`)
	}
	if _, err := w.Office().Revoke(t.Context(), live.Credential, w.Now()); err != nil {
		t.Fatal(err)
	}
	loseEffect(t, w, live)
	// The same bytes under a second label.
	labelled := []store.Object{store.NewObject("world/test/v1", "one", []byte("same")), store.NewObject("world/test/v1", "two", []byte("same"))}
	if err := errors.Join(w.Store.Keep(t.Context(), labelled), w.Store.Close()); err != nil {
		t.Fatal(err)
	}
	return place(t, w.Path)
}

// loseEffect leaves an intent open under a lease that nobody gave up.
func loseEffect(t *testing.T, w *coordtest.World, live session.Live) {
	t.Helper()
	w.Forged = true // the session is another episode's, which no coordinator would take
	genesis, err := w.Store.Entry(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	lease, err := w.Store.Lease(t.Context(), "lost")
	if err != nil {
		t.Fatal(err)
	}
	q := record.EffectRequest{Effect: coordtest.Write, Scope: coordtest.Scope, Cost: 1, Now: w.Now(), Payload: []byte("{}")}
	request := store.NewObject(record.Request, "test", q.Bytes())
	if _, err := w.Store.Intend(t.Context(), store.Intention{
		Claim: store.Claim{Invocation: "mcp:lost:1", Episode: "lost", Transition: "test", TransitionFn: genesis.TransitionFn,
			Input: request.Ref(), Session: live.Object, At: w.Now()},
		Objects: []store.Object{request}, Effect: law.Effect(q.Effect), Scope: q.Scope, Cost: 1, Budget: 9, Request: request.Ref(), Lease: lease,
	}); err != nil {
		t.Fatal(err)
	}
}

func place(t *testing.T, db string) engine.Place {
	t.Helper()
	p, err := engine.Parse(db)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func open(t *testing.T, p engine.Place, o engine.Options) engine.Store {
	t.Helper()
	s, err := p.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// move runs a transfer between two places.
func move(t *testing.T, from, to engine.Place) (transfer.Report, error) {
	t.Helper()
	source := open(t, from, engine.Options{Sealed: true})
	defer source.Close()
	target := open(t, to, engine.Options{Sealed: true, Create: true})
	defer target.Close()
	return transfer.Run(t.Context(), source, target, nil)
}

// contents is everything that a store's audit shows, but for leases.
func contents(t *testing.T, p engine.Place) map[string]string {
	t.Helper()
	s := open(t, p, engine.Options{ReadOnly: true})
	defer s.Close()
	a, err := s.Audit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	all := map[string]string{}
	err = errors.Join(
		gather(t, all, a.Objects), gather(t, all, a.Entries), gather(t, all, a.Claims), gather(t, all, a.Intents),
		gather(t, all, a.Ledgers), gather(t, all, a.Sessions), gather(t, all, a.Registries),
	)
	if err != nil {
		t.Fatal(err)
	}
	head, err := a.Head(t.Context())
	at, atErr := a.LastTime(t.Context())
	if err = errors.Join(err, atErr); err != nil {
		t.Fatal(err)
	}
	all["head"], all["clock"] = fmt.Sprint(head.Value), fmt.Sprint(at.Value)
	return all
}

func gather[T any](t *testing.T, all map[string]string, rows func(context.Context, func(store.Row[T]) error) error) error {
	return rows(t.Context(), func(r store.Row[T]) error {
		all[r.Where()] = fmt.Sprint(r.Value)
		return r.Fault
	})
}

func same(t *testing.T, got, want map[string]string) {
	t.Helper()
	for where, value := range want {
		if got[where] != value {
			t.Errorf("%s: got %s, want %s", where, got[where], value)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d rows, want %d", len(got), len(want))
	}
}

// indeterminate names the intents of which nobody knows.
func indeterminate(t *testing.T, p engine.Place) string {
	t.Helper()
	s := open(t, p, engine.Options{ReadOnly: true})
	defer s.Close()
	list, err := s.Indeterminate(t.Context(), 10)
	if err != nil || len(list) != 1 {
		t.Fatalf("%d indeterminate, %v", len(list), err)
	}
	return list[0].Name()
}

func wantKind(t *testing.T, what string, err error, kind fault.Kind) {
	t.Helper()
	if !fault.Is(err, kind) {
		t.Errorf("%s: %v, want kind %v", what, err, kind)
	}
}

// TestThereAndBack moves a world into PostgreSQL and into another file.
func TestThereAndBack(t *testing.T) {
	first := lived(t)
	want := contents(t, first)
	database := place(t, pgtest.Shared(t).Fresh(t))
	last := place(t, filepath.Join(t.TempDir(), "last.db"))
	for _, hop := range [][2]engine.Place{{first, database}, {database, last}} {
		report, err := move(t, hop[0], hop[1])
		if err != nil || !report.Check.Clean() || report.Rows < int64(len(want)) {
			t.Fatalf("%v, %v", report, err)
		}
		same(t, contents(t, hop[1]), want)
		if got := indeterminate(t, hop[1]); got != "effect:lost:0" {
			t.Errorf("%s is indeterminate", got)
		}
		_, err = hop[0].Open(t.Context(), engine.Options{})
		wantKind(t, "the source opened for writing", err, fault.Unavailable)
		same(t, contents(t, hop[0]), want)
		_, err = move(t, hop[0], hop[1])
		wantKind(t, "the same transfer again", err, fault.Conflict)
	}
	// The copy goes on: it is no museum piece.
	s := open(t, last, engine.Options{})
	lease, err := s.Lease(t.Context(), "ep")
	if err != nil || lease.Epoch < 2 {
		t.Errorf("lease %v, %v: an epoch came back", lease, err)
	}
	if got := indeterminate(t, last); got != "effect:lost:0" {
		t.Errorf("%s is indeterminate beside a writer", got)
	}
}

// restless is a source that says something else once its rows were copied.
type restless struct {
	transfer.Store
	head   bool
	audits int // so many more are true
}

func (r *restless) Head(ctx context.Context) (store.Head, error) {
	h, err := r.Store.Head(ctx)
	if r.head {
		h.Index++
	}
	return h, err
}

func (r *restless) Audit(ctx context.Context) (store.Audit, error) {
	a, err := r.Store.Audit(ctx)
	if r.audits--; r.audits < 0 {
		a = spent{a}
	}
	return a, err
}

// spent shows one unit more in every ledger.
type spent struct{ store.Audit }

func (s spent) Ledgers(ctx context.Context, visit func(store.Row[store.Ledger]) error) error {
	return s.Audit.Ledgers(ctx, func(r store.Row[store.Ledger]) error {
		r.Value.Spent[0].Total++
		return visit(r)
	})
}

// TestTheProofCompares refuses a copy of which the source says otherwise, and
// leaves neither to go on.
func TestTheProofCompares(t *testing.T) {
	for _, c := range []struct {
		says   string
		source restless
	}{{"head", restless{head: true, audits: 2}}, {"spend", restless{audits: 1}}} {
		source := open(t, lived(t), engine.Options{Sealed: true})
		to := place(t, filepath.Join(t.TempDir(), "copy.db"))
		target := open(t, to, engine.Options{Sealed: true, Create: true})
		c.source.Store = source
		_, err := transfer.Run(t.Context(), &c.source, target, nil)
		if !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.says, err)
		}
		from, err1 := source.Seal(t.Context())
		into, err2 := target.Seal(t.Context())
		if err := errors.Join(err1, err2); err != nil || from != store.Held || into != store.Filling {
			t.Errorf("%s: seals %q and %q, %v", c.says, from, into, err)
		}
	}
}

// cut fails every Put from the nth on.
type cut struct {
	transfer.Store
	left int
}

var errCut = errors.New("cut")

func (c *cut) Put(ctx context.Context, r store.Rows) error {
	if c.left--; c.left < 0 {
		return errCut
	}
	return c.Store.Put(ctx, r)
}

// TestATransferIsFinishedByRunningItAgain cuts it after each number of parts.
func TestATransferIsFinishedByRunningItAgain(t *testing.T) {
	from := lived(t)
	want := contents(t, from)
	for _, to := range []engine.Place{place(t, filepath.Join(t.TempDir(), "copy.db")), place(t, pgtest.Shared(t).Fresh(t))} {
		for parts := 0; ; parts++ {
			source := open(t, from, engine.Options{Sealed: true})
			target := open(t, to, engine.Options{Sealed: true, Create: true})
			_, err := transfer.Run(t.Context(), source, &cut{target, parts}, nil)
			if err = errors.Join(err, source.Close(), target.Close()); err == nil {
				if parts < 5 {
					t.Fatalf("a transfer of %d parts: it was never cut", parts)
				}
				break
			}
			if !errors.Is(err, errCut) {
				t.Fatal(err)
			}
			for what, p := range map[string]engine.Place{"source": from, "target": to} {
				_, err := p.Open(t.Context(), engine.Options{})
				wantKind(t, "the half-copied "+what, err, fault.Unavailable)
			}
		}
		same(t, contents(t, to), want)
		// Taken back by hand, for the next engine.
		source := open(t, from, engine.Options{Sealed: true})
		if err := errors.Join(source.SetSeal(t.Context(), store.Sealed, store.Unsealed), source.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWhatIsNotCopied refuses targets that hold something, and damaged sources.
func TestWhatIsNotCopied(t *testing.T) {
	from, other := lived(t), lived(t)
	_, err := move(t, from, other)
	wantKind(t, "onto another world", err, fault.Conflict)
	source := open(t, from, engine.Options{Sealed: true})
	if seal, err := source.Seal(t.Context()); err != nil || seal != store.Unsealed {
		t.Errorf("the refused source has seal %q, %v", seal, err)
	}
	wantKind(t, "rows into a store that is served", source.Put(t.Context(), store.Rows{At: 1}), fault.Conflict)
	wantKind(t, "a seal that is another", source.SetSeal(t.Context(), store.Held, store.Sealed), fault.Conflict)
	empty := open(t, place(t, filepath.Join(t.TempDir(), "empty.db")), engine.Options{Create: true})
	to := open(t, place(t, filepath.Join(t.TempDir(), "to.db")), engine.Options{Create: true})
	_, err = transfer.Run(t.Context(), empty, to, nil)
	wantKind(t, "an empty source", err, fault.NotFound)
}

// TestHoldingLocksDaemonsOut holds a database under another process.
func TestHoldingLocksDaemonsOut(t *testing.T) {
	p := place(t, pgtest.Shared(t).Fresh(t))
	if _, err := move(t, lived(t), p); err != nil {
		t.Fatal(err)
	}
	daemon, mover := open(t, p, engine.Options{}), open(t, p, engine.Options{Sealed: true})
	lease, err := daemon.Lease(t.Context(), "ep")
	if err != nil {
		t.Fatal(err)
	}
	wantKind(t, "holding under a lease", mover.SetSeal(t.Context(), store.Unsealed, store.Held), fault.Locked)
	if err := daemon.GiveUp(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	if err := mover.SetSeal(t.Context(), store.Unsealed, store.Held); err != nil {
		t.Fatal(err)
	}
	object := []store.Object{store.NewObject("world/test/v1", "late", []byte("late"))}
	wantKind(t, "a daemon that still runs", daemon.Keep(t.Context(), object), fault.Unavailable)
	_, err = p.Open(t.Context(), engine.Options{})
	wantKind(t, "a daemon that begins", err, fault.Unavailable)
	if err := mover.SetSeal(t.Context(), store.Held, store.Unsealed); err != nil {
		t.Fatal(err)
	}
	if err := open(t, p, engine.Options{}).Keep(t.Context(), object); err != nil {
		t.Errorf("unsealed: %v", err)
	}
}
