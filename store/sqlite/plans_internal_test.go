package sqlite

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"world/store"
	"world/store/storetest"
)

// growing are the tables that grow with each call. No statement of a call may walk
// one from end to end.
var growing = []string{"objects", "log", "claims", "intents", "labels", "o", "l", "c", "i"}

// explained is a store that lists, when it is closed, what its statements walk.
type explained struct {
	*Store
	t     testing.TB
	plans *plans
	once  *sync.Once
}

type plans struct {
	statements map[string]bool
	walks      map[string]string // by statement
}

func (p *plans) explain(t testing.TB, c *conn) {
	t.Helper()
	for query := range c.stmts {
		verb, _, _ := strings.Cut(query, " ")
		if p.statements[query] || !strings.Contains("SELECT INSERT UPDATE DELETE", verb) {
			continue
		}
		p.statements[query] = true
		s, err := c.prepare("EXPLAIN QUERY PLAN " + query)
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		s.params = 0 // a plan does not ask for values
		for {
			more, err := s.next(nil)
			if err != nil {
				t.Errorf("%s: %v", query, err)
			}
			if !more {
				break
			}
			var id, parent, unused int64
			var detail string
			if err := s.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Error(err)
			}
			for _, table := range growing {
				if detail == "SCAN "+table || strings.HasPrefix(detail, "SCAN "+table+" ") {
					p.walks[query] = detail
				}
			}
		}
		s.close()
	}
}

// Close implements store.Store.
func (e explained) Close() error {
	e.once.Do(func() {
		for range cap(e.readers.idle) {
			c := <-e.readers.idle
			e.plans.explain(e.t, c)
			e.readers.idle <- c
		}
		e.writer.queue.Between(func() { e.plans.explain(e.t, e.writer.c) })
	})
	return e.Store.Close()
}

// TestContract holds the contract, and asks how SQLite runs each statement that it
// took: none may take longer in a world of more calls.
func TestContract(t *testing.T) {
	p := &plans{map[string]bool{}, map[string]string{}}
	storetest.Run(t, func(t *testing.T) storetest.Opener {
		path := filepath.Join(t.TempDir(), "world.db")
		return func(t testing.TB) store.Store {
			s, err := Open(t.Context(), path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			return explained{s, t, p, &sync.Once{}}
		}
	})
	for query, detail := range p.walks {
		t.Errorf("%s: %s", detail, query)
	}
	if len(p.statements) < 40 {
		t.Errorf("only %d statements were explained", len(p.statements))
	}
	t.Logf("%d statements", len(p.statements))
}
