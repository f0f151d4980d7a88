package fault_test

import (
	"errors"
	"fmt"
	"testing"

	"world/fault"
)

// last is the newest kind: the list is append only.
const last = fault.HeadMoved

func TestKindsHaveTextsThatReadBack(t *testing.T) {
	seen := map[string]bool{}
	for k := fault.Internal; k <= last; k++ {
		text := k.String()
		if text == "" || seen[text] {
			t.Errorf("kind %d has text %q, which is empty or another's", k, text)
		}
		seen[text] = true
		if got, ok := fault.ParseKind(text); !ok || got != k {
			t.Errorf("%q reads back as %v, %v", text, got, ok)
		}
	}
	if got, ok := fault.ParseKind("no kind"); ok {
		t.Errorf("an unknown text reads as %v", got)
	}
}

func TestKindOutsideTheEnumerationPanics(t *testing.T) {
	for _, k := range []fault.Kind{-1, last + 1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("kind %d has a text", int(k))
				}
			}()
			_ = k.String()
		}()
	}
}

func TestOnlyDetailIsPublic(t *testing.T) {
	secret := errors.New("open /secret/path: no")
	for _, c := range []struct {
		name           string
		err            error
		kind           fault.Kind
		detail, public string
	}{
		{"plain", fault.New("a: b", fault.NotFound, "no object %d", 7), fault.NotFound, "no object 7", "not found: no object 7"},
		{"no detail", &fault.Error{Op: "a: b", Kind: fault.Limit}, fault.Limit, "", "limit"},
		{"cause", fault.Wrap("a: b", fault.Corrupt, secret, "the object"), fault.Corrupt, "the object", "corrupt: the object"},
		{"internal", fault.Wrap("a: b", fault.Internal, secret, "something"), fault.Internal, "", "internal"},
		{"foreign", secret, fault.Internal, "", "internal"},
		{"wrapped", fmt.Errorf("outer: %w", fault.New("a: b", fault.Denied, "no")), fault.Denied, "no", "denied: no"},
		{"outermost", fault.Wrap("a: b", fault.Timeout, fault.New("c: d", fault.Invalid, "inner"), "outer"), fault.Timeout, "outer", "timeout: outer"},
	} {
		if got := fault.KindOf(c.err); got != c.kind {
			t.Errorf("%s: kind %v, want %v", c.name, got, c.kind)
		}
		if got := fault.Detail(c.err); got != c.detail {
			t.Errorf("%s: detail %q, want %q", c.name, got, c.detail)
		}
		if got := fault.Public(c.err); got != c.public {
			t.Errorf("%s: public %q, want %q", c.name, got, c.public)
		}
	}
}

func TestErrorTellsLogsEverything(t *testing.T) {
	err := fault.Wrap("store: read", fault.Corrupt, errors.New("bad byte"), "object 7")
	if got, want := err.Error(), "store: read: corrupt: object 7: bad byte"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !fault.Is(err, fault.Corrupt) || fault.Is(err, fault.NotFound) || fault.Is(err.Cause, fault.Corrupt) {
		t.Error("Is does not tell kinds apart")
	}
}
