package registry_test

import (
	"context"
	"testing"

	"world/coordinator/registry"
	"world/fault"
	"world/store"
)

// late is a store that another daemon begins just after this one found it empty.
type late struct {
	store.Store
	begun func()
}

func (l late) Head(ctx context.Context) (store.Head, error) {
	head, err := l.Store.Head(ctx)
	if fault.Is(err, fault.NotFound) {
		l.begun()
	}
	return head, err
}

// TestTwoDaemonsBeginOneStore lets the second find the first one's world.
func TestTwoDaemonsBeginOneStore(t *testing.T) {
	s := empty(t)
	first := func() { bootstrap(t, s, program, builtin("a", "first")) }
	report, err := registry.Bootstrap(t.Context(), late{s, first}, []registry.Builtin{builtin("a", "second")}, program, now)
	if err != nil || report.Began || len(report.Differ) != 1 {
		t.Errorf("%+v, %v", report, err)
	}
	if head, err := s.Head(t.Context()); err != nil || head.Index != 0 {
		t.Errorf("head %+v, %v", head, err)
	}
}
