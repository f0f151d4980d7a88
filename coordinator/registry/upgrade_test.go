package registry_test

import (
	"fmt"
	"testing"

	"world/coordinator/registry"
	"world/fault"
	"world/store"
	"world/store/fsck"
	"world/store/record"
)

func TestDifferencesNameTheParts(t *testing.T) {
	s := empty(t)
	if _, err := registry.Differences(t.Context(), s, nil, store.RefOf(program)); !fault.Is(err, fault.NotFound) {
		t.Errorf("before genesis: %v", err)
	}
	bootstrap(t, s, program, builtin("a", "x"), builtin("b", "y"))
	edited := builtin("a", "other text")
	edited.Title, edited.Access.Cost = "New", 7
	edited.Declared = append(edited.Declared, record.Triple{Effect: "New.Effect", Scope: "x", Cost: 1})
	for name, c := range map[string]struct {
		builtins    []registry.Builtin
		interpreter string
		want        string
	}{
		"the same":            {[]registry.Builtin{builtin("a", "x"), builtin("b", "y")}, string(program), "[]"},
		"fewer":               {[]registry.Builtin{builtin("b", "y")}, string(program), "[]"},
		"a new one":           {[]registry.Builtin{builtin("c", "z"), builtin("a", "x")}, string(program), "[{c []}]"},
		"another interpreter": {[]registry.Builtin{builtin("b", "y")}, "newer", "[{b [interpreter]}]"},
		"edited":              {[]registry.Builtin{edited}, string(program), "[{a [source title access declared effects]}]"},
	} {
		differ, err := registry.Differences(t.Context(), s, c.builtins, store.RefOf([]byte(c.interpreter)))
		if got := fmt.Sprint(differ); err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, c.want)
		}
	}
	if _, err := registry.Differences(t.Context(), s, []registry.Builtin{{ID: "A"}}, store.RefOf(program)); !fault.Is(err, fault.Invalid) {
		t.Errorf("a built-in that is not well formed: %v", err)
	}
}

func TestUpgradeKeepsWhatItDoesNotReplace(t *testing.T) {
	s := empty(t)
	first := bootstrap(t, s, program, builtin("a", "x"), builtin("theirs", "y"))
	newer := []byte("a newer interpreter")
	revision, changed, err := registry.Upgrade(t.Context(), s, []registry.Builtin{builtin("a", "x2"), builtin("b", "z")}, newer, now+1)
	if err != nil || !changed || revision.Revision != 2 || revision.Parent != first.Registry {
		t.Fatalf("%+v, %v, %v", revision, changed, err)
	}
	current, err := registry.Current(t.Context(), s)
	if err != nil || current.Ref != revision.Ref || len(current.Entries) != 3 {
		t.Fatalf("%+v, %v", current, err)
	}
	for id, interpreter := range map[store.TransitionID][]byte{"a": newer, "b": newer, "theirs": program} {
		d, ok := current.Find(id)
		if !ok || d.Interpreter != store.RefOf(interpreter) {
			t.Errorf("%s: %+v", id, d)
		}
	}
	// The old revision, source and interpreter are still there for what was recorded under them.
	for _, ref := range []store.Ref{first.Registry, store.RefOf(program), store.RefOf(newer)} {
		if _, err := s.Object(t.Context(), ref); err != nil {
			t.Error(err)
		}
	}
	entry, err := s.Entry(t.Context(), 1)
	if err != nil || entry.WrittenBy != "host:registry-publish" || entry.Transition != revision.Ref || entry.Interpreter != store.RefOf(newer) {
		t.Errorf("%+v, %v", entry, err)
	}
	again, changed, err := registry.Upgrade(t.Context(), s, []registry.Builtin{builtin("a", "x2"), builtin("b", "z")}, newer, now+2)
	if err != nil || changed || again.Ref != revision.Ref {
		t.Errorf("again: %+v, %v, %v", again, changed, err)
	}
	if differ, err := registry.Differences(t.Context(), s, []registry.Builtin{builtin("a", "x2"), builtin("b", "z")}, store.RefOf(newer)); err != nil || len(differ) != 0 {
		t.Errorf("still differing: %v, %v", differ, err)
	}
	if _, _, err := registry.Upgrade(t.Context(), s, []registry.Builtin{{ID: "A"}}, newer, now); !fault.Is(err, fault.Invalid) {
		t.Errorf("a built-in that is not well formed: %v", err)
	}
	report, err := fsck.Run(t.Context(), s, fsck.Options{})
	if err != nil || !report.Clean() || report.Entries != 2 {
		t.Errorf("fsck: %+v, %v", report, err)
	}
}
