package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	bareName = "bare inserts"
	dbosName = "DBOS"
)

// database is an empty database of one system's own.
type database struct {
	url  string
	pool *pgxpool.Pool
}

// onServer gives a system a new database with a connection for each caller, and
// counts what the server writes ahead.
func onServer(server string, open func(context.Context, database, int) (system, error)) func(context.Context, int) (system, error) {
	return func(ctx context.Context, callers int) (system, error) {
		db, err := newDatabase(ctx, server, callers)
		if err != nil {
			return system{}, err
		}
		s, err := open(ctx, db, callers)
		if err != nil {
			db.pool.Close()
			return system{}, err
		}
		closeSystem := s.close
		s.close = func() { closeSystem(); db.pool.Close() }
		s.written = func(ctx context.Context) (n int64, err error) {
			err = db.pool.QueryRow(ctx, "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint").Scan(&n)
			return n, err
		}
		return s, nil
	}
}

func newDatabase(ctx context.Context, server string, callers int) (database, error) {
	first, err := pgxpool.New(ctx, server)
	if err != nil {
		return database{}, err
	}
	defer first.Close()
	name := "bench_" + strings.ToLower(rand.Text())
	if _, err := first.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		return database{}, err
	}
	u, err := url.Parse(server)
	if err != nil {
		return database{}, err
	}
	u.Path = "/" + name
	config, err := pgxpool.ParseConfig(u.String())
	if err != nil {
		return database{}, err
	}
	config.MaxConns = int32(callers) + 2
	pool, err := pgxpool.NewWithConfig(ctx, config)
	return database{u.String(), pool}, err
}

// openBare is the least that a journal can do.
func openBare(ctx context.Context, db database, _ int) (system, error) {
	for _, table := range []string{"intents", "outcomes"} {
		if _, err := db.pool.Exec(ctx, "CREATE TABLE "+table+" (id BIGINT PRIMARY KEY, body BYTEA NOT NULL)"); err != nil {
			return system{}, err
		}
	}
	body := make([]byte, 200)
	var next atomic.Int64
	return system{name: bareName, close: func() {}, call: func(ctx context.Context, _ int) error {
		id := next.Add(1)
		if _, err := db.pool.Exec(ctx, "INSERT INTO intents (id, body) VALUES ($1, $2)", id, body); err != nil {
			return err
		}
		_, err := db.pool.Exec(ctx, "INSERT INTO outcomes (id, body) VALUES ($1, $2)", id, body)
		return err
	}}, nil
}

// oneStep is the workflow of DBOS: its step answers what a handler of ours does.
func oneStep(ctx dbos.Context, path string) (string, error) {
	return dbos.RunAsStep(ctx, func(context.Context) (string, error) { return content, nil })
}

// openDBOS is DBOS Transact as its guide has it, with a pool of as many connections.
func openDBOS(ctx context.Context, db database, _ int) (system, error) {
	c, err := dbos.NewContext(ctx, dbos.Config{
		AppName: "journal", SystemDBPool: db.pool, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		return system{}, err
	}
	dbos.RegisterWorkflow(c, oneStep)
	if err := dbos.Launch(c); err != nil {
		return system{}, err
	}
	var next atomic.Int64
	return system{name: dbosName, close: func() { dbos.Shutdown(c, 5*time.Second) }, call: func(context.Context, int) error {
		handle, err := dbos.RunWorkflow(c, oneStep, fmt.Sprintf("src/file-%d.txt", next.Add(1)))
		if err != nil {
			return err
		}
		answer, err := handle.GetResult()
		if err == nil && answer != content {
			err = fmt.Errorf("the workflow answered %q", answer)
		}
		return err
	}}, nil
}
