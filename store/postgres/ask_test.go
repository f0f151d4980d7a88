package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"world/fault"
	"world/store"
	"world/store/postgres"
	"world/store/postgres/pgtest"
)

// TestReadersFailAlone: readers that share round trips with one whose row is
// damaged, with one that finds nothing and with one that gives up are answered.
func TestReadersFailAlone(t *testing.T) {
	url := pgtest.Shared(t).Fresh(t)
	w := begun(t, open(t, url, postgres.Options{}))
	for _, name := range []string{"sound", "damaged"} {
		_, err := w.Act(w.ctx, store.Act{Draft: w.draft(w.source), Changes: []store.Change{store.MoveRegistry{Name: name, To: w.source.Ref()}}})
		ok(t, err)
	}
	pgtest.Shared(t).Exec(t, url, "UPDATE world.registry SET digest = 'x' WHERE name = 'damaged'")
	ended, cancel := context.WithCancel(w.ctx)
	cancel()
	asks := []func() error{
		func() error {
			found, err := w.Look(w.ctx, store.Lookup{Registries: []string{"sound"}, Ledger: episode})
			if err == nil && (found.Registries[0] != w.source.Ref() || found.Ledger.Episode != episode) {
				err = fmt.Errorf("found %+v", found)
			}
			return err
		},
		func() error { return kind(fault.Corrupt, second(w.Registry(w.ctx, "damaged"))) },
		func() error {
			return kind(fault.Corrupt, second(w.Look(w.ctx, store.Lookup{Registries: []string{"sound", "damaged"}})))
		},
		func() error { return kind(fault.NotFound, second(w.Registry(w.ctx, "nowhere"))) },
		func() error { return kind(fault.Timeout, second(w.Head(ended))) },
	}
	var wg sync.WaitGroup
	for i := range 4 * len(asks) {
		wg.Go(func() {
			for range 8 {
				if err := asks[i%len(asks)](); err != nil {
					t.Errorf("reader %d: %v", i%len(asks), err)
				}
			}
		})
	}
	wg.Wait()
}

func second[T any](_ T, err error) error { return err }

// kind is an error unless err is of the kind.
func kind(want fault.Kind, err error) error {
	if !fault.Is(err, want) {
		return fmt.Errorf("%v, want kind %v", err, want)
	}
	return nil
}

// TestReadersShareARoundTrip holds the server's answer to one reader back until
// others wait: they are answered by one round trip more, however many they are.
func TestReadersShareARoundTrip(t *testing.T) {
	const readers = 10
	waiting, goOn := make(chan struct{}), make(chan struct{})
	var held atomic.Bool
	var trips atomic.Int64
	_, url := pgtest.Front(t, pgtest.Shared(t).Fresh(t), func(pgtest.Request) pgtest.Verdict {
		if held.Load() && trips.Add(1) == 1 {
			close(waiting)
			<-goOn
		}
		return pgtest.Pass
	})
	w := begun(t, open(t, url, postgres.Options{Lease: time.Hour}))
	_, err := w.Look(w.ctx, store.Lookup{})
	ok(t, err)
	held.Store(true)
	var wg sync.WaitGroup
	look := func() {
		if _, err := w.Look(w.ctx, store.Lookup{}); err != nil {
			t.Error(err)
		}
	}
	wg.Go(look)
	<-waiting
	var asked atomic.Int64
	for range readers {
		wg.Go(func() { asked.Add(1); look() })
	}
	until(t, "all readers ask", func() bool { return asked.Load() == readers })
	close(goOn)
	wg.Wait()
	if n := trips.Load(); n < 2 || n > readers/2 {
		t.Errorf("%d requests for %d readers", n, readers+1)
	}
}
