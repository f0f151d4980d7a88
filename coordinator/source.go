package coordinator

import (
	"context"
	"sync"

	"world/fault"
	"world/store"
)

const (
	maxSources = 256     // that are kept
	maxSource  = 1 << 16 // bytes of each
)

// sources keeps small objects that calls read again and again: texts of
// transitions, and what names an episode's home. A ref names the same bytes for
// ever, and their hash was checked when they were read.
type sources struct {
	from    store.Reader
	mu      sync.Mutex
	objects map[store.Ref]store.Object
}

// Object returns an object, from the store unless it is kept.
func (s *sources) Object(ctx context.Context, r store.Ref) (store.Object, error) {
	if object, ok := s.find(r); ok {
		return object, nil
	}
	object, err := s.from.Object(ctx, r)
	if err == nil {
		s.keep(object)
	}
	return object, err
}

func (s *sources) find(r store.Ref) (store.Object, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	object, ok := s.objects[r]
	return object, ok
}

func (s *sources) keep(object store.Object) {
	if len(object.Bytes()) > maxSource {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects == nil || len(s.objects) >= maxSources {
		s.objects = map[store.Ref]store.Object{}
	}
	s.objects[object.Ref()] = object
}

// source returns the text of the transition (R6).
func (k *course) source(ctx context.Context) ([]byte, error) {
	object, err := k.c.sources.Object(ctx, k.desc.TransitionFn)
	if err != nil {
		kind := fault.KindOf(err)
		if kind == fault.NotFound {
			kind = fault.Corrupt
		}
		return nil, fault.Wrap("coordinator: source", kind, err, "transition source is absent or corrupt")
	}
	return object.Bytes(), nil
}
