package coordinator

import (
	"fmt"
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
	large := store.NewObject("s", "p", make([]byte, maxSource+1))
	s.keep(large)
	if _, ok := s.find(large.Ref()); ok {
		t.Error("a large source is kept")
	}
	for i := range 3 * maxSources {
		text := store.NewObject("s", "p", fmt.Appendf(nil, "source %d", i))
		s.keep(text)
		if got, ok := s.find(text.Ref()); !ok || got.Ref() != text.Ref() || got.Label() != text.Label() {
			t.Fatalf("%q was kept, and %q is found", text.Bytes(), got.Bytes())
		}
		if len(s.objects) > maxSources {
			t.Fatalf("%d sources are kept", len(s.objects))
		}
	}
}
