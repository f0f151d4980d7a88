package sqlite

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"

	"world/store/rows"
)

// stmt is a prepared statement with the memory that its texts and blobs are
// bound from. It runs once at a time: bound, stepped, and reset.
type stmt struct {
	c      *conn
	p      uintptr // sqlite3_stmt*
	params int     // how many values it takes
	mem    uintptr // bound values live here while it runs
	size   int     // bytes of mem
	runs   bool
}

// keepMem is how much memory a statement keeps between two runs, in bytes.
const keepMem = 1 << 16

const pointerSize = 8

// prepare makes a statement of a text that holds exactly one.
func (c *conn) prepare(query string) (*stmt, error) {
	sql := cString(c.tls, query)
	defer libc.Xfree(c.tls, sql)
	if err := c.check(lib.Xsqlite3_prepare_v3(c.tls, c.db, sql, -1, lib.SQLITE_PREPARE_PERSISTENT, c.out, 0)); err != nil {
		return nil, err
	}
	s := &stmt{c: c, p: c.returned()}
	s.params = int(lib.Xsqlite3_bind_parameter_count(c.tls, s.p))
	return s, nil
}

func (s *stmt) close() {
	lib.Xsqlite3_finalize(s.c.tls, s.p)
	libc.Xfree(s.c.tls, s.mem)
}

// next goes on to the next row, from the start with args when it does not run
// yet, and reports whether there is one.
func (s *stmt) next(args []any) (bool, error) {
	if !s.runs {
		s.bind(args)
		s.runs = true
	}
	switch rc := lib.Xsqlite3_step(s.c.tls, s.p); rc {
	case lib.SQLITE_ROW:
		return true, nil
	case lib.SQLITE_DONE:
		return false, nil
	default:
		return false, s.c.check(rc)
	}
}

// reset ends a run. Its code repeats the last step's.
func (s *stmt) reset() {
	lib.Xsqlite3_reset(s.c.tls, s.p)
	s.runs = false
	if s.size > keepMem {
		libc.Xfree(s.c.tls, s.mem)
		s.mem, s.size = 0, 0
	}
}

// bind binds all values. Texts and blobs are copied once, to memory that stays
// where it is until the next run: the library reads them there.
func (s *stmt) bind(args []any) {
	if s.params != len(args) {
		panic(fmt.Sprintf("sqlite: a statement of %d values was given %d", s.params, len(args)))
	}
	need := 1
	for _, a := range args {
		switch a := a.(type) {
		case string:
			need += len(a)
		case []byte:
			need += len(a)
		}
	}
	if need > s.size {
		libc.Xfree(s.c.tls, s.mem)
		s.size = max(need, 1024)
		s.mem = alloc(s.c.tls, s.size)
	}
	free, at := libc.GoBytes(s.mem, s.size), s.mem
	for i, a := range args {
		i, rc := int32(i+1), int32(0)
		switch a := a.(type) {
		case int64:
			rc = lib.Xsqlite3_bind_int64(s.c.tls, s.p, i, a)
		case int:
			rc = lib.Xsqlite3_bind_int64(s.c.tls, s.p, i, int64(a))
		case bool:
			n := int64(0)
			if a {
				n = 1
			}
			rc = lib.Xsqlite3_bind_int64(s.c.tls, s.p, i, n)
		case string:
			n := copy(free, a)
			rc = lib.Xsqlite3_bind_text(s.c.tls, s.p, i, at, int32(n), 0)
			free, at = free[n:], at+uintptr(n)
		case []byte:
			n := copy(free, a)
			rc = lib.Xsqlite3_bind_blob(s.c.tls, s.p, i, at, int32(n), 0)
			free, at = free[n:], at+uintptr(n)
		default:
			panic(fmt.Sprintf("sqlite: a value of type %T", a))
		}
		if rc != lib.SQLITE_OK {
			panic(fmt.Sprintf("sqlite: value %d of type %T is not bound: %d", i, a, rc))
		}
	}
}

// Scan implements rows.Scanner: it copies the columns of the row, none left out,
// and refuses one of another type than its destination.
func (s *stmt) Scan(dest ...any) error {
	if n := int(lib.Xsqlite3_column_count(s.c.tls, s.p)); n != len(dest) {
		return fmt.Errorf("a row of %d columns for %d values", n, len(dest))
	}
	for i, d := range dest {
		if err := s.column(int32(i), d); err != nil {
			return fmt.Errorf("column %d: %w", i, err)
		}
	}
	return nil
}

func (s *stmt) column(i int32, dest any) error {
	kind := lib.Xsqlite3_column_type(s.c.tls, s.p, i)
	switch d := dest.(type) {
	case *any:
		switch kind {
		case lib.SQLITE_INTEGER:
			*d = s.integer(i)
		case lib.SQLITE_TEXT:
			*d = string(s.bytes(i))
		case lib.SQLITE_BLOB:
			*d = append([]byte{}, s.bytes(i)...)
		default:
			*d = nil
		}
		return nil
	case *[]byte:
		if kind != lib.SQLITE_BLOB && kind != lib.SQLITE_NULL {
			return fmt.Errorf("not a blob")
		}
		*d = s.c.kept.copied(s.bytes(i))
		return nil
	case rows.RefColumn:
		if kind != lib.SQLITE_BLOB && kind != lib.SQLITE_NULL {
			return fmt.Errorf("not a blob")
		}
		return s.c.kept.ref(d, s.bytes(i))
	case *int64:
		*d = s.integer(i)
	case *int:
		*d = int(s.integer(i))
	case *bool:
		*d = s.integer(i) != 0
	default:
		if kind != lib.SQLITE_TEXT {
			return fmt.Errorf("not a text")
		}
		reflect.ValueOf(dest).Elem().SetString(s.c.kept.text(s.bytes(i)))
		return nil
	}
	if kind != lib.SQLITE_INTEGER {
		return fmt.Errorf("not an integer")
	}
	return nil
}

func (s *stmt) integer(i int32) int64 { return lib.Xsqlite3_column_int64(s.c.tls, s.p, i) }

// bytes are a text's or a blob's, where the library keeps them until the next step.
func (s *stmt) bytes(i int32) []byte {
	p := lib.Xsqlite3_column_blob(s.c.tls, s.p, i)
	n := lib.Xsqlite3_column_bytes(s.c.tls, s.p, i)
	if p == 0 || n == 0 {
		return nil
	}
	return libc.GoBytes(p, int(n))
}

// libError is an error of the library.
type libError struct {
	code int32 // extended
	text string
}

func (e *libError) Error() string { return fmt.Sprintf("%s (%d)", e.text, e.code) }

// check makes an error of a code of the library.
func (c *conn) check(rc int32) error {
	if rc == lib.SQLITE_OK {
		return nil
	}
	text := libc.GoString(lib.Xsqlite3_errmsg(c.tls, c.db))
	if c.db == 0 {
		text = libc.GoString(lib.Xsqlite3_errstr(c.tls, rc))
	}
	return &libError{rc, text}
}

// returned is the pointer that the library left in out.
func (c *conn) returned() uintptr {
	return uintptr(binary.NativeEndian.Uint64(libc.GoBytes(c.out, pointerSize)))
}

// alloc returns memory of the library's, which no garbage collector moves or frees.
func alloc(tls *libc.TLS, n int) uintptr {
	p := libc.Xmalloc(tls, libc.Tsize_t(n))
	if p == 0 {
		panic(fmt.Sprintf("sqlite: no memory for %d bytes", n))
	}
	return p
}

// cString is a text as the library takes it, ended by NUL.
func cString(tls *libc.TLS, s string) uintptr {
	if strings.ContainsRune(s, 0) {
		panic("sqlite: a NUL in a statement or a path")
	}
	p := alloc(tls, len(s)+1)
	b := libc.GoBytes(p, len(s)+1)
	b[copy(b, s)] = 0
	return p
}
