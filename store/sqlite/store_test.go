package sqlite_test

import (
	"path/filepath"
	"testing"

	"world/store"
	"world/store/sqlite"
	"world/store/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Opener {
		path := filepath.Join(t.TempDir(), "world.db")
		return func(t testing.TB) store.Store {
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	})
}
