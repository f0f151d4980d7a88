package sqlite

import (
	"context"
	"database/sql"
	"net/url"
	"strings"
	"world/store/rows"
)

// conn is one connection with its prepared statements. It is used by one
// goroutine at a time. Statements are never interrupted: each takes moments, and
// a COMMIT that is cut off half way leaves a question that need not arise.
type conn struct {
	db      *sql.DB
	raw     *sql.Conn
	stmts   map[string]*sql.Stmt
	changed int64 // rows changed since begin
	failed  bool  // some statement failed since begin
}

// mode says what a connection may do to the file.
type mode string

const (
	readWrite mode = "rw"
	readOnly  mode = "ro"
	inMemory  mode = "memory" // no file: an empty database of its own
)

// connect opens a connection to an existing file.
func connect(canonical string, m mode) (*conn, error) {
	q := url.Values{}
	q.Set("mode", string(m))
	q.Set("_defensive", "1")
	q.Set("_dqs", "0")
	q.Set("_busy_timeout", "5000") // ms; only a checkpoint or a recovery ever holds us up
	for _, p := range []string{"trusted_schema(0)", "cell_size_check(1)", "foreign_keys(1)", "synchronous(FULL)", "wal_autocheckpoint(0)", "journal_size_limit(67108864)", "cache_size(-16384)"} {
		q.Add("_pragma", p)
	}
	u := url.URL{Scheme: "file", Path: canonical, RawQuery: q.Encode()}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, err
	}
	raw, err := db.Conn(context.Background())
	if err != nil {
		db.Close()
		return nil, err
	}
	return &conn{db: db, raw: raw, stmts: map[string]*sql.Stmt{}}, nil
}

func (c *conn) close() error {
	for _, s := range c.stmts {
		s.Close()
	}
	c.raw.Close()
	return c.db.Close()
}

func (c *conn) prepare(query string) (*sql.Stmt, error) {
	if s, ok := c.stmts[query]; ok {
		return s, nil
	}
	s, err := c.raw.PrepareContext(context.Background(), query)
	if err == nil {
		c.stmts[query] = s
	}
	return s, err
}

// exec runs one statement and returns how many rows it changed.
func (c *conn) exec(query string, args ...any) (int64, error) {
	s, err := c.prepare(query)
	if err != nil {
		return 0, c.fail(err)
	}
	res, err := s.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, c.fail(err)
	}
	n, err := res.RowsAffected()
	c.changed += n
	return n, c.fail(err)
}

// each runs a query and hands every row to scan, until one fails.
func (c *conn) each(scan func(row rows.Scanner) error, query string, args ...any) error {
	s, err := c.prepare(query)
	if err != nil {
		return c.fail(err)
	}
	found, err := s.QueryContext(context.Background(), args...)
	if err != nil {
		return c.fail(err)
	}
	defer found.Close()
	for found.Next() {
		if err := scan(found); err != nil {
			return err
		}
	}
	return c.fail(found.Err())
}

// row runs a query for its first row and reports whether there was one.
func (c *conn) row(scan func(row rows.Scanner) error, query string, args ...any) (bool, error) {
	found := false
	err := c.each(func(row rows.Scanner) error {
		if found {
			return nil
		}
		found = true
		return scan(row)
	}, query, args...)
	return found, err
}

func (c *conn) begin() error {
	c.failed = false
	_, err := c.exec("BEGIN IMMEDIATE")
	c.changed = 0 // what does not change rows reports the number of the last that did
	return err
}

func (c *conn) commit() error {
	_, err := c.exec("COMMIT")
	return err
}

// rollback undoes what is not committed. It fails when the engine has rolled
// back by itself, which is as good.
func (c *conn) rollback() { c.exec("ROLLBACK") }

func (c *conn) fail(err error) error {
	if err != nil {
		c.failed = true
	}
	return err
}

// values returns n groups of placeholders for a multi-row statement.
func values(n, columns int) string {
	group := "(" + strings.TrimSuffix(strings.Repeat("?,", columns), ",") + ")"
	return strings.TrimSuffix(strings.Repeat(group+",", n), ",")
}
