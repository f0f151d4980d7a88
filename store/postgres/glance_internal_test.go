package postgres

import (
	"testing"
	"time"

	"world/store"
)

// TestGlanceReadBeforeAnAct: what was read before this process acted is not kept
// when it arrives after that.
func TestGlanceReadBeforeAnAct(t *testing.T) {
	var g glances
	what := store.Lookup{Registries: []string{"a"}, Within: time.Hour}
	read := func() store.Looked { return store.Looked{Registries: []store.Ref{"old"}, Taken: time.Now()} }
	begun := g.begin()
	g.keep(what, read(), begun)
	if _, ok := g.find(what); !ok {
		t.Fatal("control: an answer is not kept")
	}
	g.forget()
	g.keep(what, read(), begun)
	if found, ok := g.find(what); ok {
		t.Errorf("kept %v, read before the act", found.Registries)
	}
}
