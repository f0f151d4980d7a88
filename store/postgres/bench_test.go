package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"world/store/postgres"
	"world/store/postgres/pgtest"
	"world/store/storetest"
)

// BenchmarkCall measures what one allowed effectful call costs in the store, next
// to the least that any journal on this server could do: an intent and an outcome,
// each a bare insert that commits by itself.
func BenchmarkCall(b *testing.B) {
	for _, callers := range []int{1, 8, 32} {
		b.Run(fmt.Sprintf("bare-%d", callers), func(b *testing.B) { benchBare(b, callers) })
		b.Run(fmt.Sprintf("call-%d", callers), func(b *testing.B) {
			url := pgtest.Shared(b).Fresh(b)
			s := open(b, url, postgres.Options{})
			before := walBytes(b, url)
			storetest.Benchmark(b, s, callers)
			b.ReportMetric(float64(walBytes(b, url)-before)/float64(b.N), "wal-B/call")
		})
	}
}

func benchBare(b *testing.B, callers int) {
	ctx := context.Background()
	url := pgtest.Shared(b).Fresh(b)
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		b.Fatal(err)
	}
	config.MaxConns = int32(callers)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		b.Fatal(err)
	}
	defer pool.Close()
	for _, table := range []string{"intents", "outcomes"} {
		if _, err := pool.Exec(ctx, "CREATE TABLE "+table+" (id BIGINT PRIMARY KEY, body BYTEA NOT NULL)"); err != nil {
			b.Fatal(err)
		}
	}
	body := make([]byte, 200)
	before := walBytes(b, url)
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for range callers {
		wg.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				for _, insert := range []string{"INSERT INTO intents (id, body) VALUES ($1, $2)", "INSERT INTO outcomes (id, body) VALUES ($1, $2)"} {
					if _, err := pool.Exec(ctx, insert, n, body); err != nil {
						b.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
	b.ReportMetric(float64(walBytes(b, url)-before)/float64(b.N), "wal-B/call")
}

// walBytes is how much the server has written ahead so far.
func walBytes(b *testing.B, url string) (n int64) {
	ctx := context.Background()
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close(ctx)
	if err := c.QueryRow(ctx, "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint").Scan(&n); err != nil {
		b.Fatal(err)
	}
	return n
}
