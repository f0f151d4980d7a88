package postgres_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"world/store"
	"world/store/postgres"
	"world/store/postgres/pgtest"
	"world/store/storetest"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(childURL); url != "" {
		if err := child(url); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		return
	}
	pgtest.Main(m)
}

// open opens a store for writing and closes it with the test.
func open(t testing.TB, url string, opts postgres.Options) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Opener {
		url := pgtest.Shared(t).Fresh(t)
		return func(t testing.TB) store.Store { return open(t, url, postgres.Options{}) }
	})
}

func TestSharedContract(t *testing.T) {
	storetest.RunShared(t, func(t *testing.T) storetest.Opener {
		url := pgtest.Shared(t).Fresh(t)
		return func(t testing.TB) store.Store {
			return open(t, url, postgres.Options{Idle: time.Millisecond, Lease: 2 * time.Second})
		}
	})
}
