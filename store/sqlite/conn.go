package sqlite

import (
	"net/url"
	"strings"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"

	"world/store/rows"
)

// conn is one connection with its prepared statements. It is used by one
// goroutine at a time. Statements are never interrupted: each takes moments, and
// a COMMIT that is cut off half way leaves a question that need not arise.
//
// It speaks to the library itself, not through database/sql: a call is some
// dozen statements of some dozen values, and carrying these through a driver
// took as long as the statements.
type conn struct {
	tls     *libc.TLS
	db      uintptr // sqlite3*
	out     uintptr // room for a pointer that the library returns
	stmts   map[string]*stmt
	known   known    // objects that are stored, for the connection that writes
	gather  *gather  // what it writes to the log, for the same
	changed int64    // rows changed since begin
	failed  bool     // some statement failed since begin
	mapping *mapping // the file as memory, for a connection that reads all of it
	kept    kept     // values of rows that were read
}

// mode says what a connection may do to the file.
type mode int32

const (
	readWrite mode = lib.SQLITE_OPEN_READWRITE
	readOnly  mode = lib.SQLITE_OPEN_READONLY
	immutable mode = lib.SQLITE_OPEN_READONLY | lib.SQLITE_OPEN_URI                              // nobody writes the file, and there is no log
	inMemory  mode = lib.SQLITE_OPEN_READWRITE | lib.SQLITE_OPEN_CREATE | lib.SQLITE_OPEN_MEMORY // no file: an empty database of its own
)

// settings hold for every connection. What is acknowledged is durable
// (synchronous), no file brings code along (trusted_schema), and only a
// checkpoint or a recovery ever holds us up (busy_timeout, in ms). Pages are
// small because most of what a call dirties is one row of a page, and pages of
// an index in no order. The cache is small (in KiB) because splitting a page
// makes SQLite walk all of it; the system caches the file besides.
const settings = `
PRAGMA page_size = 2048;
PRAGMA busy_timeout = 5000;
PRAGMA trusted_schema = 0;
PRAGMA cell_size_check = 1;
PRAGMA synchronous = FULL;
PRAGMA wal_autocheckpoint = 0;
PRAGMA journal_size_limit = 67108864;
PRAGMA cache_size = -1024;
`

// connect opens a connection to an existing file, named by its absolute path.
func connect(canonical string, m mode) (*conn, error) {
	c := &conn{tls: libc.NewTLS(), stmts: map[string]*stmt{}}
	c.out = alloc(c.tls, pointerSize)
	if m == immutable {
		canonical = "file:" + (&url.URL{Path: canonical}).EscapedPath() + "?immutable=1"
	}
	name := cString(c.tls, canonical)
	defer libc.Xfree(c.tls, name)
	// A connection is one goroutine's at a time, so the library need not guard it.
	rc := lib.Xsqlite3_open_v2(c.tls, name, c.out, int32(m)|lib.SQLITE_OPEN_NOMUTEX|lib.SQLITE_OPEN_EXRESCODE, 0)
	c.db = c.returned() // there is one even when opening failed
	err := c.check(rc)
	for _, config := range []struct{ op, on int32 }{
		{lib.SQLITE_DBCONFIG_DEFENSIVE, 1}, // SQL cannot write to the file's own structures
		{lib.SQLITE_DBCONFIG_DQS_DML, 0},
		{lib.SQLITE_DBCONFIG_DQS_DDL, 0}, // "x" is a name, never a text
	} {
		if err == nil {
			err = c.configure(config.op, config.on)
		}
	}
	if err == nil {
		err = c.script(settings)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *conn) configure(op, on int32) error {
	args := libc.NewVaList(on, uintptr(0))
	defer libc.Xfree(c.tls, args)
	return c.check(lib.Xsqlite3_db_config(c.tls, c.db, op, args))
}

func (c *conn) close() error {
	for _, s := range c.stmts {
		s.close()
	}
	err := c.check(lib.Xsqlite3_close_v2(c.tls, c.db))
	c.gather.free(c.tls)
	c.mapping.free(c.tls)
	libc.Xfree(c.tls, c.out)
	c.tls.Close()
	return err
}

// filePointer is an open file of the library's, asked for by one of its codes.
func (c *conn) filePointer(code int32) (uintptr, error) {
	main := cString(c.tls, "main")
	defer libc.Xfree(c.tls, main)
	err := c.check(lib.Xsqlite3_file_control(c.tls, c.db, main, code, c.out))
	return c.returned(), err
}

// script runs statements without parameters and drops what they return.
func (c *conn) script(text string) error {
	sql := cString(c.tls, text)
	defer libc.Xfree(c.tls, sql)
	return c.fail(c.check(lib.Xsqlite3_exec(c.tls, c.db, sql, 0, 0, 0)))
}

// prepared returns a query's statement; each is prepared once.
func (c *conn) prepared(query string) (*stmt, error) {
	if s, ok := c.stmts[query]; ok {
		if s.runs {
			panic("sqlite: a statement runs inside itself: " + query)
		}
		return s, nil
	}
	s, err := c.prepare(query)
	if err == nil {
		c.stmts[query] = s
	}
	return s, err
}

// exec runs one statement and returns how many rows it changed.
func (c *conn) exec(query string, args ...any) (int64, error) {
	s, err := c.prepared(query)
	if err != nil {
		return 0, c.fail(err)
	}
	defer s.reset()
	for more := true; more && err == nil; {
		more, err = s.next(args)
	}
	if err != nil {
		return 0, c.fail(err)
	}
	n := lib.Xsqlite3_changes64(c.tls, c.db)
	c.changed += n
	return n, nil
}

// each runs a query and hands every row to scan, until one fails.
func (c *conn) each(scan func(row rows.Scanner) error, query string, args ...any) (err error) {
	if c.mapping != nil {
		defer unread(&err)()
	}
	s, err := c.prepared(query)
	if err != nil {
		return c.fail(err)
	}
	defer s.reset()
	for {
		more, err := s.next(args)
		if err != nil || !more {
			return c.fail(err)
		}
		if err := scan(s); err != nil {
			return err
		}
	}
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

// any reports whether a query finds a row.
func (c *conn) any(query string, args ...any) (bool, error) {
	return c.row(func(rows.Scanner) error { return nil }, query, args...)
}

func (c *conn) begin() error {
	c.failed = false
	_, err := c.exec("BEGIN IMMEDIATE")
	c.changed = 0 // what does not change rows reports the number of the last that did
	return err
}

func (c *conn) commit() error {
	_, err := c.exec("COMMIT")
	if err == nil {
		c.known.commit()
	}
	return err
}

// rollback undoes what is not committed. It fails when the engine has rolled
// back by itself, which is as good.
func (c *conn) rollback() {
	c.known.rollback()
	c.exec("ROLLBACK")
}

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
