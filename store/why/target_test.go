package why_test

import (
	"fmt"
	"strings"
	"testing"

	"world/coordinator/coordtest"
	"world/fault"
	"world/store"
	"world/store/why"
)

func TestEveryRefOfACallLeadsToIt(t *testing.T) {
	w, live := world(t)
	whole := walk(t, w.Store, "2")
	for _, s := range whole.Steps {
		switch s.Part {
		case "source", "interpreter", "registry", "session", "mint", "intent", "grant": // shared with other calls, or rows
			continue
		}
		trail := walk(t, w.Store, string(s.Ref))
		if got := says(t, trail, "entry"); !strings.HasPrefix(got, "log 2 ") {
			t.Errorf("%s %s leads to %q", s.Part, s.Ref, got)
		}
	}
	entry, err := w.Store.Entry(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]string{
		"mcp:ep:ok":               "log 2 ",
		"effect:ep:1":             "log 3 ",
		string(entry.World):       "log 2 ",
		string(live.Object):       "log 1 ",
		"head":                    "log 7 ",
		string(entry.Interpreter): "log 7 ", // the newest that names it
	} {
		if got := says(t, walk(t, w.Store, target), "entry"); !strings.HasPrefix(got, want) {
			t.Errorf("%s leads to %q, want %s", target, got, want)
		}
	}
}

// A call that was cut off has a claim and an intent and no entry.
func TestACallWithoutAnEntry(t *testing.T) {
	w, live := world(t)
	w.Forged = true
	lease, err := w.Store.Lease(t.Context(), "ep")
	if err != nil {
		t.Fatal(err)
	}
	before := walk(t, w.Store, "2")
	refs := map[string]store.Ref{}
	for _, s := range before.Steps {
		refs[s.Part] = s.Ref
	}
	ledger, err := w.Store.Ledger(t.Context(), "ep")
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Store.Intend(t.Context(), store.Intention{
		Claim: store.Claim{Invocation: "mcp:ep:cut", Episode: "ep", Transition: coordtest.Act,
			TransitionFn: refs["source"], Input: refs["input"], Session: live.Object, At: w.Now()},
		Effect: coordtest.Write, Scope: coordtest.Scope, Cost: 1, Budget: ledger.Of(coordtest.Write, coordtest.Scope) + 1,
		Request: refs["request"], Lease: lease,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"mcp:ep:cut", fmt.Sprintf("effect:ep:%d", ledger.Next)} {
		trail := walk(t, w.Store, target)
		if got := parts(trail); got != "claim source input intent request session mint" || !trail.Holds {
			t.Errorf("%s: got %s", target, got)
		}
		if got := says(t, trail, "intent"); !strings.HasSuffix(got, "without an outcome") {
			t.Errorf("%s: the intent says %q", target, got)
		}
	}
}

func TestTargetsThatAreNotThere(t *testing.T) {
	w, _ := world(t)
	for target, want := range map[string]fault.Kind{
		"99": fault.NotFound, "mcp:ep:never": fault.NotFound, "effect:ep:99": fault.NotFound,
		string(store.RefOf([]byte("nothing"))): fault.NotFound,
		"":                                     fault.Invalid, "-1": fault.Invalid, "01": fault.Invalid, "+1": fault.Invalid, "tail": fault.Invalid,
		"9223372036854775808": fault.Invalid, "sha256:12": fault.Invalid, "effect:ep": fault.Invalid,
		"effect:ep:01": fault.Invalid, "effect:ep:x": fault.Invalid, strings.Repeat("1", 600): fault.Invalid,
	} {
		if _, err := why.Walk(t.Context(), w.Store, target, why.DefaultScan); !fault.Is(err, want) {
			t.Errorf("%.40q: got %v, want %v", target, err, want)
		}
	}
	for _, scan := range []int{0, -1, why.MaxScan + 1} {
		if _, err := why.Walk(t.Context(), w.Store, "0", scan); !fault.Is(err, fault.Invalid) {
			t.Errorf("a scan of %d: got %v", scan, err)
		}
	}
}

// The input of log 2 is named by log 2 alone, six entries below the head.
func TestAScanIsBounded(t *testing.T) {
	w, _ := world(t)
	var input store.Ref
	for _, s := range walk(t, w.Store, "2").Steps {
		if s.Part == "input" {
			input = s.Ref
		}
	}
	if _, err := why.Walk(t.Context(), w.Store, string(input), 6); err != nil {
		t.Errorf("within the scan: %v", err)
	}
	if _, err := why.Walk(t.Context(), w.Store, string(input), 5); !fault.Is(err, fault.NotFound) {
		t.Errorf("beyond the scan: %v", err)
	}
}
