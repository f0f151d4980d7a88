package registry_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"world/coordinator/registry"
	"world/fault"
	"world/store"
	"world/store/record"
	"world/store/sqlite"
)

const now = 1_700_000_000

var program = []byte("an interpreter")

func builtin(id store.TransitionID, source string) registry.Builtin {
	return registry.Builtin{
		ID: id, Title: "Title", Description: "what it <does> & more", Source: []byte(source),
		InputSchema: json.RawMessage(` {"type": "object", "description":"<a>&b"}`), OutputSchema: json.RawMessage(`{"b":1,"a":2.0}`),
		Access:   record.Triple{Effect: "Workspace.Read", Scope: "worktree"},
		Declared: []record.Triple{{Effect: "Workspace.Read", Scope: "worktree", Cost: 1}},
	}
}

func empty(t *testing.T) store.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "world.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func bootstrap(t *testing.T, s store.Store, interpreter []byte, builtins ...registry.Builtin) registry.Report {
	t.Helper()
	report, err := registry.Bootstrap(t.Context(), s, builtins, interpreter, now)
	if err != nil {
		t.Fatalf("bootstrap: %v", err)
	}
	return report
}

// TestGenesis checks everything that a first start leaves behind (D30).
func TestGenesis(t *testing.T) {
	s := empty(t)
	report := bootstrap(t, s, program, builtin("b", "second"), builtin("a", "first"))
	if !report.Began || report.Differ != nil {
		t.Errorf("report %+v", report)
	}
	entry, err := s.Entry(t.Context(), 0)
	if err != nil || entry.WrittenBy != "host:genesis" || entry.Interpreter != store.RefOf(program) || entry.Invocation != "" {
		t.Fatalf("genesis %+v, %v", entry, err)
	}
	object, err := s.Object(t.Context(), entry.Transition)
	if err != nil {
		t.Fatal(err)
	}
	genesis, err := record.DecodeGenesis(object.Bytes())
	if err != nil || genesis.Registry != report.Registry || genesis.At != now || len(genesis.Nonce) != 32 {
		t.Errorf("genesis record %+v, %v", genesis, err)
	}
	current, err := registry.Current(t.Context(), s)
	if err != nil || current.Ref != report.Registry || current.Revision != 1 || current.Parent != "" {
		t.Fatalf("current %+v, %v", current, err)
	}
	for id, source := range map[store.TransitionID]string{"a": "first", "b": "second"} {
		d, ok := current.Find(id)
		if !ok || d.Interpreter != store.RefOf(program) || d.TransitionFn != store.RefOf([]byte(source)) || len(d.DeclaredEffects) != 1 {
			t.Errorf("%s: %+v", id, d)
		}
		var schema struct{ Description string }
		if json.Unmarshal(d.InputSchema, &schema) != nil || schema.Description != "<a>&b" || string(d.OutputSchema) != `{"a":2,"b":1}` {
			t.Errorf("%s: schemas %s %s", id, d.InputSchema, d.OutputSchema)
		}
		if object, err := s.Object(t.Context(), d.TransitionFn); err != nil || string(object.Bytes()) != source {
			t.Errorf("%s: source %v", id, err)
		}
	}
	if _, ok := current.Find("aa"); ok {
		t.Error("found a transition that is not there")
	}
	if object, err := s.Object(t.Context(), store.RefOf(program)); err != nil || string(object.Bytes()) != string(program) {
		t.Errorf("interpreter: %v", err)
	}
}

// TestNoTwoStoresShareAGenesis checks the nonce.
func TestNoTwoStoresShareAGenesis(t *testing.T) {
	first, second := empty(t), empty(t)
	bootstrap(t, first, program)
	bootstrap(t, second, program)
	a, errA := first.Head(t.Context())
	b, errB := second.Head(t.Context())
	if errA != nil || errB != nil || a.Entry == b.Entry {
		t.Errorf("two stores begin alike: %+v, %+v", a, b)
	}
}

// TestBootstrapAgain checks that a store with a genesis is only looked at, and
// that the report names exactly the built-ins that are served otherwise.
func TestBootstrapAgain(t *testing.T) {
	s := empty(t)
	first := bootstrap(t, s, program, builtin("a", "x"), builtin("b", "y"))
	retitled := builtin("b", "y")
	retitled.Title = "Another"
	for name, test := range map[string]struct {
		interpreter string
		builtins    []registry.Builtin
		differ      string
	}{
		"the same":            {string(program), []registry.Builtin{builtin("b", "y"), builtin("a", "x")}, ""},
		"fewer":               {string(program), []registry.Builtin{builtin("a", "x")}, ""},
		"a new source":        {string(program), []registry.Builtin{builtin("a", "z"), builtin("b", "y")}, "a"},
		"another title":       {string(program), []registry.Builtin{builtin("a", "x"), retitled}, "b"},
		"one more":            {string(program), []registry.Builtin{builtin("a", "x"), builtin("b", "y"), builtin("c", "w")}, "c"},
		"another interpreter": {"newer", []registry.Builtin{builtin("a", "x"), builtin("b", "y")}, "a b"},
	} {
		report := bootstrap(t, s, []byte(test.interpreter), test.builtins...)
		var differ []string
		for _, id := range report.Differ {
			differ = append(differ, string(id.ID))
		}
		if report.Began || report.Registry != first.Registry || strings.Join(differ, " ") != test.differ {
			t.Errorf("%s: %+v", name, report)
		}
	}
	if head, err := s.Head(t.Context()); err != nil || head.Index != 0 {
		t.Errorf("looking changed the log: %+v, %v", head, err)
	}
	if _, err := s.Object(t.Context(), store.RefOf([]byte("z"))); !fault.Is(err, fault.NotFound) {
		t.Errorf("looking stored a source: %v", err)
	}
}

// TestRefusedBuiltins checks that what is not well formed begins no store.
func TestRefusedBuiltins(t *testing.T) {
	for name, edit := range map[string]func(*registry.Builtin){
		"id":               func(b *registry.Builtin) { b.ID = "A" },
		"no source":        func(b *registry.Builtin) { b.Source = nil },
		"large source":     func(b *registry.Builtin) { b.Source = make([]byte, 1<<20+1) },
		"no schema":        func(b *registry.Builtin) { b.InputSchema = nil },
		"schema no object": func(b *registry.Builtin) { b.OutputSchema = json.RawMessage(`[]`) },
		"large schema": func(b *registry.Builtin) {
			b.OutputSchema = json.RawMessage(`{"a":"` + strings.Repeat("x", 64<<10) + `"}`)
		},
		"twice declared":  func(b *registry.Builtin) { b.Declared = append(b.Declared, b.Declared[0]) },
		"negative cost":   func(b *registry.Builtin) { b.Declared[0].Cost = -1 },
		"negative access": func(b *registry.Builtin) { b.Access.Cost = -1 },
	} {
		s := empty(t)
		b := builtin("a", "x")
		edit(&b)
		if _, err := registry.Bootstrap(t.Context(), s, []registry.Builtin{b}, program, now); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := s.Head(t.Context()); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: a store began: %v", name, err)
		}
	}
	if _, err := registry.Bootstrap(t.Context(), empty(t), []registry.Builtin{builtin("a", "x"), builtin("a", "y")}, program, now); !fault.Is(err, fault.Invalid) {
		t.Errorf("one id twice: %v", err)
	}
}

// TestHostDraft checks that a host act can be written with its draft, whatever
// its verb, and not before genesis.
func TestHostDraft(t *testing.T) {
	s := empty(t)
	about := store.NewObject("test/about", "test", []byte("about"))
	if _, err := registry.HostDraft(t.Context(), s, "session-mint", about.Ref()); !fault.Is(err, fault.NotFound) {
		t.Errorf("before genesis: %v", err)
	}
	bootstrap(t, s, program)
	seen := map[store.Ref]bool{}
	for _, verb := range []string{"session-mint", "session-revoke", "session-mint"} {
		draft, err := registry.HostDraft(t.Context(), s, verb, about.Ref())
		if err != nil || draft.WrittenBy != "host:"+verb || draft.Interpreter != store.RefOf(program) || draft.Transition != about.Ref() {
			t.Fatalf("%s: %+v, %v", verb, draft, err)
		}
		seen[draft.TransitionFn] = true
		entry, err := s.Act(t.Context(), store.Act{Objects: []store.Object{about}, Draft: draft, At: now})
		if err != nil || entry.WrittenBy != draft.WrittenBy {
			t.Errorf("%s: %+v, %v", verb, entry, err)
		}
	}
	if len(seen) != 2 {
		t.Errorf("%d texts for two verbs", len(seen))
	}
}

// TestReadRefusesWhatIsNoRevision checks that a head that names something else is
// corruption, not an empty registry.
func TestReadRefusesWhatIsNoRevision(t *testing.T) {
	s := empty(t)
	bootstrap(t, s, program)
	if _, err := registry.Read(t.Context(), s, store.RefOf(program)); !fault.Is(err, fault.Corrupt) {
		t.Errorf("an interpreter as a revision: %v", err)
	}
	if _, err := registry.Read(t.Context(), s, store.RefOf([]byte("nothing"))); !fault.Is(err, fault.Corrupt) {
		t.Errorf("nothing as a revision: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := registry.Bootstrap(ended, s, nil, program, now); err == nil {
		t.Error("a store that does not answer was looked at")
	}
}
