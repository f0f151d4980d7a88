package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"world/fault"
	"world/store"
	"world/store/rows"
)

func openInternal(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "world.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

var errLost = errors.New("the reply was lost")

// TestLostCommit loses the reply of one COMMIT of every kind of change, once
// after it was carried out and once before. A change that is durable is a
// success; one that is not can never be, and says so.
func TestLostCommit(t *testing.T) {
	o := store.NewObject("test", "test", []byte("object"))
	about := store.NewObject("test", "test", []byte("about"))
	draft := store.Draft{TransitionFn: o.Ref(), Interpreter: o.Ref(), WrittenBy: "test", Transition: o.Ref(), StateRoot: o.Ref()}
	claim := func(task string) store.Claim {
		return store.Claim{Invocation: store.NewInvocationID(store.SurfaceMCP, "ep", task), Episode: "ep", Transition: "t",
			TransitionFn: o.Ref(), Input: o.Ref(), Session: o.Ref(), At: 3}
	}
	for _, landed := range []bool{true, false} {
		s := openInternal(t)
		ctx := t.Context()
		var lease store.Lease
		var intent store.Intent
		for _, step := range []struct {
			name string
			run  func() error
		}{
			{"begin", func() error { _, err := s.Begin(ctx, store.Act{Objects: []store.Object{o}, Draft: draft}); return err }},
			{"keep", func() error { return s.Keep(ctx, []store.Object{about}) }},
			{"act", func() error { _, err := s.Act(ctx, store.Act{Draft: draft, At: 1}); return err }},
			{"lease", func() (err error) { lease, err = s.Lease(ctx, "ep"); return err }},
			{"intend", func() (err error) {
				intent, err = s.Intend(ctx, store.Intention{Claim: claim("1"), Effect: "e", Scope: "s", Cost: 1, Budget: 5, Request: o.Ref(), Lease: lease})
				return err
			}},
			{"commit", func() error {
				_, err := s.Commit(ctx, store.Finish{Claim: claim("1"), Intent: &intent, Lease: lease, Draft: draft,
					Outcome: store.Outcome{Status: store.StatusFailed, Record: o.Ref(), Detail: o.Ref()}})
				return err
			}},
			{"pure commit", func() error { _, err := s.Commit(ctx, store.Finish{Claim: claim("2"), Draft: draft}); return err }},
			{"give up", func() error { return s.GiveUp(ctx, lease) }},
		} {
			s.writer.commit = func() error {
				s.writer.commit = s.writer.c.commit // only this one
				if landed {
					if err := s.writer.c.commit(); err != nil {
						return err
					}
				}
				return errLost
			}
			err := step.run()
			if landed {
				if err != nil {
					t.Fatalf("%s, carried out, reply lost: %v", step.name, err)
				}
				continue
			}
			if !fault.Is(err, fault.Unavailable) || !errors.Is(err, errLost) {
				t.Fatalf("%s, never carried out: %v", step.name, err)
			}
			if err := step.run(); err != nil { // it left nothing in the way
				t.Fatalf("%s, again: %v", step.name, err)
			}
		}
		l, err := s.Ledger(ctx, "ep")
		if err != nil || l.Of("e", "s") != 1 || l.Next != 1 {
			t.Fatalf("ledger %v, %v", l, err)
		}
		es, err := s.Entries(ctx, 0, 500)
		if err != nil || len(es) != 4 {
			t.Fatalf("%d entries, %v", len(es), err)
		}
	}
}

// TestUncertain loses the reply and the way to find out.
func TestUncertain(t *testing.T) {
	s := openInternal(t)
	o := store.NewObject("test", "test", []byte("object"))
	s.writer.commit = func() error { return errLost }
	if err := s.Keep(t.Context(), []store.Object{o}); !fault.Is(err, fault.Uncertain) {
		t.Fatalf("got %v, want uncertain", err)
	}
	s.writer.commit = s.writer.c.commit
	if err := s.Keep(t.Context(), []store.Object{o}); err != nil {
		t.Fatal(err)
	}
}

// TestBatchMembers runs batches whose members fail in each way there is: the
// others are committed, and the failed ones leave nothing.
func TestBatchMembers(t *testing.T) {
	ctx := t.Context()
	put := func(c *conn, body string) error {
		return putObjects(c, []store.Object{store.NewObject("test", "test", []byte(body))}, nobody)
	}
	for name, bad := range map[string]func(c *conn, cancel func()) error{
		"refuses": func(*conn, func()) error { return fault.New("test", fault.Conflict, "no") },
		"refuses, has written": func(c *conn, _ func()) error {
			return errors.Join(put(c, "bad"), fault.New("test", fault.Conflict, "no"))
		},
		"breaks a statement": func(c *conn, _ func()) error { _, err := c.exec("INSERT INTO nowhere VALUES (1)"); return err },
		"breaks a constraint": func(c *conn, _ func()) error {
			_, err := c.exec("INSERT INTO head VALUES (2, 1, x'', x'', x'', x'')")
			return err
		},
		"fills the disk": func(c *conn, _ func()) error { // SQLite rolls all of the transaction back
			pages, err := pragmaInt(c, "page_count")
			if err != nil {
				return err
			}
			if _, err := pragmaInt(c, fmt.Sprintf("max_page_count = %d", pages+20)); err != nil {
				return err
			}
			return put(c, strings.Repeat("bad", 1<<20))
		},
		"leaves": func(c *conn, cancel func()) error { cancel(); return put(c, "bad") },
	} {
		t.Run(name, func(t *testing.T) {
			s := openInternal(t)
			leaving, cancel := context.WithCancel(ctx)
			defer cancel()
			member := func(ctx context.Context, run func(c *conn) error) *change {
				return &change{Ctx: ctx, Op: "test", Work: work{run: run}}
			}
			members := []*change{
				member(ctx, func(c *conn) error { return put(c, "first") }),
				member(leaving, func(c *conn) error { return bad(c, cancel) }),
				member(ctx, func(c *conn) error { return put(c, "last") }),
			}
			s.writer.queue.Between(func() { s.writer.run(members) })
			for i, ch := range members {
				if (ch.Err != nil) != (i == 1) {
					t.Errorf("member %d: %v", i, ch.Err)
				}
			}
			for body, want := range map[string]bool{"first": true, "last": true, "bad": false} {
				if _, err := s.Object(ctx, store.RefOf([]byte(body))); (err == nil) != want {
					t.Errorf("%s: %v, want there %v", body, err, want)
				}
			}
		})
	}
}

// TestBrokenInvariant panics in the middle of a change: its caller's call ends,
// nothing of it stays, and the store serves the next one.
func TestBrokenInvariant(t *testing.T) {
	s := openInternal(t)
	bad, good := store.NewObject("test", "test", []byte("bad")), store.NewObject("test", "test", []byte("good"))
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic went no further")
			}
		}()
		s.writer.do(t.Context(), "test", func(c *conn) error {
			if err := putObjects(c, []store.Object{bad}, nobody); err != nil {
				t.Error(err)
			}
			panic("an invariant is broken")
		}, nil)
	}()
	if err := s.Keep(t.Context(), []store.Object{good}); err != nil {
		t.Fatalf("after a panic: %v", err)
	}
	if _, err := s.Object(t.Context(), bad.Ref()); !fault.Is(err, fault.NotFound) {
		t.Fatalf("what panicked is there: %v", err)
	}
}

// TestSettings pins what durability rests on and no test can show without cutting
// the power.
func TestSettings(t *testing.T) {
	s := openInternal(t)
	for pragma, want := range map[string]int{"synchronous": 2, "wal_autocheckpoint": 0} {
		if got, err := pragmaInt(s.writer.c, pragma); err != nil || got != want {
			t.Errorf("%s is %d, %v, want %d", pragma, got, err, want)
		}
	}
	var mode string
	if _, err := s.writer.c.row(func(row rows.Scanner) error { return row.Scan(&mode) }, "PRAGMA journal_mode"); err != nil || mode != "wal" {
		t.Errorf("journal mode %q, %v", mode, err)
	}
}

// TestMigration moves a file to a schema of later versions, and leaves it at its
// own when one of them fails half way.
func TestMigration(t *testing.T) {
	s := openInternal(t)
	c := s.writer.c
	first := "CREATE TABLE second (x INTEGER PRIMARY KEY) STRICT;"
	later := append([]string{}, migrations...)
	if err := migrate(c, append(later, first, "INSERT INTO second VALUES (1); INSERT INTO second VALUES (1);"), len(later)); err == nil {
		t.Fatal("a migration that breaks a constraint went through")
	}
	if err := checkSchema(c); err != nil {
		t.Fatalf("after a failed migration: %v", err)
	}
	if err := migrate(c, append(later, first, "INSERT INTO second VALUES (1);"), len(later)); err != nil {
		t.Fatal(err)
	}
	version, err := pragmaInt(c, "user_version")
	if err != nil || version != len(later)+2 {
		t.Fatalf("version %d, %v", version, err)
	}
	if err := checkSchema(c); !fault.Is(err, fault.Version) {
		t.Fatalf("a newer schema: %v", err)
	}
}

// TestLogStartsAnew writes until the write-ahead log is begun again from its
// start, which SQLite does only when all of it was moved into the file.
func TestLogStartsAnew(t *testing.T) {
	s := openInternal(t)
	var began []byte
	for round := range 1000 {
		var objects []store.Object
		for i := range 100 {
			objects = append(objects, store.NewObject("test", "test", fmt.Appendf(nil, "%d", round*1000+i)))
		}
		if err := s.Keep(t.Context(), objects); err != nil {
			t.Fatal(err)
		}
		header := make([]byte, 32) // its salt changes with each beginning
		f, err := os.Open(s.path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadFull(f, header)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		if began == nil {
			began = header
		} else if !bytes.Equal(began, header) {
			if rows := (round + 1) * 100; rows < moveEvery {
				t.Fatalf("the log began anew after %d rows", rows)
			}
			return
		}
	}
	t.Fatal("the log never began anew")
}
