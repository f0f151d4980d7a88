package fsck

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"world/store"
)

// torn is a log that cannot be read beyond its entries, when err says why.
type torn struct {
	store.Audit
	log   []store.Entry
	err   error
	ended bool // nobody reads it any more
}

func (a *torn) Entries(_ context.Context, visit func(store.Row[store.Entry]) error) (err error) {
	defer func() { a.ended = true }()
	for _, e := range a.log {
		if err := visit(store.Row[store.Entry]{Value: e}); err != nil {
			return err
		}
	}
	return a.err
}

func chainOf(n int) (log []store.Entry) {
	head := store.Void
	for i := range n {
		log = append(log, store.Chain(head, store.Draft{WrittenBy: fmt.Sprint(i)}, ""))
		head = log[i].Head()
	}
	return log
}

// TestLinks hands over every entry that could be read, with what it should be.
func TestLinks(t *testing.T) {
	for _, n := range []int{0, 1, linksRead, linksRead + 1, 3*pagesAhead*linksRead + 7} {
		for _, err := range []error{nil, errors.New("torn")} {
			a := &torn{log: chainOf(n), err: err}
			if n > 1 {
				a.log[n/2].WrittenBy = "another"
			}
			l := readLinks(t.Context(), a)
			before := store.Void
			for i := range n {
				k := l.next()
				switch {
				case k == nil:
					t.Fatalf("entry %d of %d is missing", i, n)
				case k.row.Value != a.log[i] || k.before != before:
					t.Fatalf("entry %d of %d is %+v behind %+v", i, n, k.row.Value, k.before)
				case (k.row.Value != k.want) != (n > 1 && i == n/2):
					t.Fatalf("entry %d of %d should be %+v", i, n, k.want)
				}
				before = k.row.Value.Head()
			}
			if k := l.next(); k != nil || l.next() != nil || !errors.Is(l.err, err) {
				t.Errorf("behind %d entries comes %v, and %v", n, k, l.err)
			}
			l.stop()
		}
	}
}

// TestLinksStop leaves the audit to others, wherever the reading is.
func TestLinksStop(t *testing.T) {
	for _, taken := range []int{0, 1, linksRead, 2*linksRead + 1} {
		a := &torn{log: chainOf(100 * linksRead)}
		l := readLinks(t.Context(), a)
		for range taken {
			l.next()
		}
		if l.stop(); !a.ended {
			t.Errorf("after %d entries the log is read on", taken)
		}
	}
}
