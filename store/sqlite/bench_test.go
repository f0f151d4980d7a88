package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"world/store/sqlite"
	"world/store/storetest"
)

// BenchmarkCall measures what one allowed effectful call costs in the store, next
// to the least that any journal could do: two bare inserts, each its own durable
// commit, on a file with the same settings.
func BenchmarkCall(b *testing.B) {
	b.Run("bare", func(b *testing.B) { benchBare(b) })
	for _, callers := range []int{1, 8, 32} {
		b.Run(fmt.Sprintf("call-%d", callers), func(b *testing.B) {
			s, err := sqlite.Open(context.Background(), filepath.Join(b.TempDir(), "world.db"), sqlite.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			storetest.Benchmark(b, s, callers)
		})
	}
}

func benchBare(b *testing.B) {
	s, err := sqlite.Open(context.Background(), filepath.Join(b.TempDir(), "world.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	s.Close() // settings of the process are those of a store from here on
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "bare.db")+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE bare (id INTEGER PRIMARY KEY, body BLOB NOT NULL)"); err != nil {
		b.Fatal(err)
	}
	insert, err := db.Prepare("INSERT INTO bare (body) VALUES (?)")
	if err != nil {
		b.Fatal(err)
	}
	body := make([]byte, 200)
	for b.Loop() {
		for range 2 {
			if _, err := insert.Exec(body); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}
