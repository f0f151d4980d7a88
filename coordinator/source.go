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

// sources keeps texts of transitions. A ref names the same bytes for ever, and
// their hash was checked when they were read.
type sources struct {
	mu    sync.Mutex
	texts map[store.Ref][]byte
}

func (s *sources) find(r store.Ref) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, ok := s.texts[r]
	return text, ok
}

func (s *sources) keep(r store.Ref, text []byte) {
	if len(text) > maxSource {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts == nil || len(s.texts) >= maxSources {
		s.texts = map[store.Ref][]byte{}
	}
	s.texts[r] = text
}

// source returns the text of the transition (R6).
func (k *course) source(ctx context.Context) ([]byte, error) {
	text, ok := k.c.sources.find(k.desc.TransitionFn)
	if ok {
		return text, nil
	}
	object, err := k.c.Store.Object(ctx, k.desc.TransitionFn)
	if err != nil {
		kind := fault.KindOf(err)
		if kind == fault.NotFound {
			kind = fault.Corrupt
		}
		return nil, fault.Wrap("coordinator: source", kind, err, "transition source is absent or corrupt")
	}
	k.c.sources.keep(object.Ref(), object.Bytes())
	return object.Bytes(), nil
}
