package postgres_test

import (
	"context"
	"fmt"
	"github.com/jackc/pgx/v5"
	"os"
	"testing"
	"world/store/postgres"
	"world/store/postgres/pgtest"
	"world/store/storetest"
)

func BenchmarkProf(b *testing.B) {
	url := pgtest.Shared(b).Fresh(b)
	ctx := context.Background()
	c, _ := pgx.Connect(ctx, url)
	defer c.Close(ctx)
	if _, err := c.Exec(ctx, "create extension pg_stat_statements"); err != nil {
		b.Fatal(err)
	}
	s := open(b, url, postgres.Options{})
	n := 1
	fmt.Sscan(os.Getenv("CALLERS"), &n)
	storetest.Benchmark(b, s, n)
	r, err := c.Query(ctx, "select calls, round((total_exec_time*1000/calls)::numeric,1)::float8, round((total_plan_time*1000/calls)::numeric,1)::float8, plans, round(total_exec_time::numeric)::float8, wal_bytes::float8/calls, left(regexp_replace(query, '\\s+', ' ', 'g'),100) from pg_stat_statements where calls>500 order by total_exec_time desc limit 45")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { fmt.Println(r.Err()) }()
	for r.Next() {
		v, _ := r.Values()
		fmt.Println(v...)
	}
}
