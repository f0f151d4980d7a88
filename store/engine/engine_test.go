package engine_test

import (
	"path/filepath"
	"strings"
	"testing"

	"world/fault"
	"world/store/engine"
	"world/store/postgres/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestAPlaceShowsNoPassword(t *testing.T) {
	for db, want := range map[string]string{
		"postgres://world:hunter2@db:5432/w":                                       "postgres://world@db:5432/w",
		"postgresql://world@db/w?sslmode=require":                                  "postgresql://world@db/w?sslmode=require",
		"postgres://db/w?user=world&password=hunter2&sslpassword=hunter2":          "postgres://db/w?user=world",
		"postgres://world:hunter%402@/w?host=/run/postgresql&passfile=/etc/world":  "postgres://world@/w?host=/run/postgresql&passfile=/etc/world",
		"postgres://world:hunter2@one:1,two:2/w?target_session_attrs=read-write#x": "postgres://world@one:1,two:2/w?target_session_attrs=read-write",
	} {
		p, err := engine.Parse(db)
		if err != nil || p.String() != want || !p.Shared() || p.File() != "" {
			t.Errorf("%s: %s, %v; want %s", db, p, err, want)
		}
	}
}

func TestAFileIsItsAbsolutePath(t *testing.T) {
	p, err := engine.Parse("some/world.db")
	if err != nil || p.Shared() || !filepath.IsAbs(p.File()) || p.String() != p.File() {
		t.Errorf("%s, %v", p, err)
	}
}

func TestWhatIsNoPlace(t *testing.T) {
	for _, db := range []string{"", "a\nb", "postgres://world:hunter2@db:port/w", "postgres://world:hunter2@%zz/w", "postgres://world:hunter2\x7f@db/w"} {
		_, err := engine.Parse(db)
		if !fault.Is(err, fault.Invalid) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", db, err)
		}
	}
}

// TestErrorsShowNoPassword fails to connect, to log in, and to parse.
func TestErrorsShowNoPassword(t *testing.T) {
	for _, db := range []string{
		"postgres://world:hunter2@127.0.0.1:1/w", "postgres://world:hunter2@127.0.0.1:1/w?sslmode=hunter2",
		"postgres://nobody:hunter2@/none?" + strings.SplitN(pgtest.Shared(t).Fresh(t), "?", 2)[1],
	} {
		p, err := engine.Parse(db)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []engine.Options{{}, {ReadOnly: true}, {Create: true}} {
			if s, err := p.Open(t.Context(), o); err == nil || s != nil || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: %v", p, err)
			}
		}
	}
}

// TestOnlyCreateMakesAStore opens nothing, then something, on both engines.
func TestOnlyCreateMakesAStore(t *testing.T) {
	for _, db := range []string{filepath.Join(t.TempDir(), "world.db"), pgtest.Shared(t).Fresh(t)} {
		p, err := engine.Parse(db)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []engine.Options{{}, {ReadOnly: true}, {}} {
			if _, err := p.Open(t.Context(), o); !fault.Is(err, fault.NotFound) {
				t.Errorf("%s, %+v: %v", p, o, err)
			}
		}
		for _, o := range []engine.Options{{Create: true}, {}, {ReadOnly: true}, {Sealed: true}} {
			s, err := p.Open(t.Context(), o)
			if err != nil {
				t.Fatalf("%s, %+v: %v", p, o, err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
