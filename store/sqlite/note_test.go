package sqlite_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"world/fault"
	"world/store"
	"world/store/sqlite"
)

// TestTheLastTransactionIsKnown damages what a crash might have torn: with the
// writer's note of it the log is refused, with a note of before it is taken as torn,
// and so it is with a note that is about another log, half written or damaged.
func TestTheLastTransactionIsKnown(t *testing.T) {
	im := newImage(t)
	last := len(im.ends) - 1
	if bytes.Equal(im.notes[last], im.notes[last-1]) || len(im.notes[last]) == 0 {
		t.Fatalf("the notes are %x and %x", im.notes[last-1], im.notes[last])
	}
	damages := map[string]func([]byte) []byte{
		"all of it gone":        func(log []byte) []byte { return log[:im.at(im.ends[last-1]+1, 0)] },
		"its last frame gone":   func(log []byte) []byte { return log[:im.at(im.ends[last], 0)] },
		"no frame left":         func(log []byte) []byte { return log[:32] },
		"zeros for a frame":     func(log []byte) []byte { clear(log[im.at(im.ends[last], 0):]); return log },
		"half of its last page": func(log []byte) []byte { return log[:im.at(im.ends[last], im.frame/2)] },
	}
	for at := im.at(im.ends[last-1]+1, 0); at < len(im.log); at += 397 {
		damages["a bit at "+string(rune('0'+at%10))+string(rune('a'+at/10%26))+string(rune('a'+at/260%26))+string(rune('a'+at/6760%26))] = flip(at)
	}
	other := bytes.Clone(im.notes[last])
	other[3] ^= 1
	for what, change := range damages {
		for name, c := range map[string]struct {
			note   []byte
			refuse bool
		}{
			"its note":       {im.notes[last], true},
			"the one before": {im.notes[last-1], what == "no frame left"},
			"a damaged one":  {other, false},
			"half of one":    {im.notes[last][:20], false},
			"an empty one":   {nil, false},
		} {
			path := im.put(t, change)
			write(t, path+".writer.lock", c.note)
			if c.refuse {
				wantRefused(t, path, sqlite.Options{ReadOnly: true}, fault.Corrupt)
				continue
			}
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: true})
			if err != nil {
				t.Errorf("%s, %s: %v", what, name, err)
				continue
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestANoteOfAnEarlierLogSaysNothing opens and closes a store, and kills it behind
// its first commits and behind a log begun anew: each time it opens again.
func TestANoteOfAnEarlierLogSaysNothing(t *testing.T) {
	im := newImage(t)
	path := im.put(t, func(log []byte) []byte { return log })
	write(t, path+".writer.lock", im.notes[len(im.notes)-1])
	s := open(t, path, sqlite.Options{}) // moves the log into the file
	for _, ref := range im.refs {
		if _, err := s.Object(t.Context(), ref); err != nil {
			t.Error(err)
		}
	}
	note := read(t, path+".writer.lock")
	later := keep(t, s, "later")
	if bytes.Equal(note, read(t, path+".writer.lock")) {
		t.Error("a commit into the new log was not noted")
	}
	main, log := killed(t, path)
	again := im.put(t, func([]byte) []byte { return log })
	write(t, again, main)
	for what, n := range map[string][]byte{"the earlier log's": note, "its own": read(t, path+".writer.lock")} {
		write(t, again+".writer.lock", n)
		s, err := sqlite.Open(t.Context(), again, sqlite.Options{ReadOnly: true})
		if err != nil {
			t.Errorf("%s note: %v", what, err)
			continue
		}
		if _, err := s.Object(t.Context(), later); err != nil {
			t.Errorf("%s note: %v", what, err)
		}
		s.Close()
	}
}

// TestNotesEndWithTheirFile cuts the file short under an open store: it goes on
// without notes.
func TestNotesEndWithTheirFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world.db")
	s := open(t, path, sqlite.Options{})
	newBook(t, s)
	first := keep(t, s, "noted")
	if len(read(t, path+".writer.lock")) == 0 {
		t.Fatal("nothing was noted")
	}
	if err := os.Truncate(path+".writer.lock", 0); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []store.Ref{first, keep(t, s, "not noted"), keep(t, s, "nor this")} {
		if _, err := s.Object(t.Context(), ref); err != nil {
			t.Error(err)
		}
	}
}
