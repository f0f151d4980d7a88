package main

import (
	"path/filepath"
	"strings"
	"testing"

	"world/store/engine"
)

// A store that a daemon holds is named as that, with its lock.
func TestPublishingBesideADaemon(t *testing.T) {
	db := filepath.Join(t.TempDir(), "world.db")
	place, err := engine.Parse(db)
	if err != nil {
		t.Fatal(err)
	}
	s, err := place.Open(t.Context(), engine.Options{Create: true, Owner: "daemon"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = place.Open(t.Context(), engine.Options{})
	if err == nil {
		t.Fatal("the store is opened twice")
	}
	const want = "STOP fence=store reason=locked\na daemon serves this store, stop it first: another process holds world.db.writer.lock"
	if got := unopened(err).Error(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := place.Open(t.Context(), engine.Options{}) // control
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	_, err = (engine.Place{}).Open(t.Context(), engine.Options{})
	if got := unopened(err).Error(); err == nil || !strings.HasPrefix(got, "STOP fence=store reason=unopenable\n") {
		t.Errorf("%q", got)
	}
}
