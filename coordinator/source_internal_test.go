package coordinator

import (
	"fmt"
	"slices"
	"testing"

	"world/store"
)

// TestSourcesAreFew: what was kept last is found, what is large is not kept, and
// however many there are, few are.
func TestSourcesAreFew(t *testing.T) {
	var s sources
	if _, ok := s.find(store.RefOf(nil)); ok {
		t.Error("a source is found before any was kept")
	}
	large := make([]byte, maxSource+1)
	s.keep(store.RefOf(large), large)
	if _, ok := s.find(store.RefOf(large)); ok {
		t.Error("a large source is kept")
	}
	for i := range 3 * maxSources {
		text := fmt.Appendf(nil, "source %d", i)
		s.keep(store.RefOf(text), text)
		if got, ok := s.find(store.RefOf(text)); !ok || !slices.Equal(got, text) {
			t.Fatalf("%q was kept, and %q is found", text, got)
		}
		if len(s.texts) > maxSources {
			t.Fatalf("%d sources are kept", len(s.texts))
		}
	}
}
