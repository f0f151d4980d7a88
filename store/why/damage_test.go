package why_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"world/coordinator/coordtest"
	"world/fault"
	"world/store"
	"world/store/record"
	"world/store/why"
)

// Break each object of a call in turn: the walk names it, and goes on.
func TestABrokenObjectIsNamedAndTheWalkGoesOn(t *testing.T) {
	w, _ := world(t)
	whole := walk(t, w.Store, "2")
	for _, kind := range []fault.Kind{fault.Corrupt, fault.NotFound} {
		for i, s := range whole.Steps {
			if s.Bytes == 0 {
				continue
			}
			trail := walk(t, damaged{Reader: w.Store, ref: s.Ref, kind: kind}, "2")
			broken := slices.IndexFunc(trail.Steps, func(s why.Step) bool { return s.Fault != "" })
			if trail.Holds || broken != i || trail.Steps[i].Part != s.Part || trail.Steps[i].Ref != s.Ref {
				t.Errorf("%v %s: %s", kind, s.Part, parts(trail))
			}
			if s.Part != "invocation" && trail.Steps[len(trail.Steps)-1].Part != "mint" {
				t.Errorf("%v %s ends the walk: %s", kind, s.Part, parts(trail))
			}
		}
	}
}

// Change one field of a record at a time: what names the record, or what it
// names, does not agree any more, whichever field it is.
func TestEachFieldOfARecordIsHeldAgainstItsOtherEnd(t *testing.T) {
	w, _ := world(t)
	refs := map[string]store.Ref{}
	for _, s := range walk(t, w.Store, "2").Steps {
		refs[s.Part] = s.Ref
	}
	object := func(part string) []byte {
		o, err := w.Store.Object(t.Context(), refs[part])
		if err != nil {
			t.Fatal(err)
		}
		return o.Bytes()
	}
	call, err := record.DecodeInvocation(object("invocation"))
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*record.InvocationRecord){
		"invocation id": func(c *record.InvocationRecord) { c.InvocationID = "mcp:ep:x" },
		"transitionFn":  func(c *record.InvocationRecord) { c.TransitionFn = refs["input"] },
		"interpreter":   func(c *record.InvocationRecord) { c.Interpreter = refs["input"] },
		"epoch":         func(c *record.InvocationRecord) { c.SemanticsEpoch++ },
		"output":        func(c *record.InvocationRecord) { c.Output = refs["input"] },
	} {
		changed := call
		change(&changed)
		broken(t, name, w.Store, refs["invocation"], changed.Bytes(), "invocation")
	}
	effect, err := record.DecodeEffect(object("record"))
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*record.EffectRecord){
		"request": func(r *record.EffectRecord) { r.RequestRef = refs["input"] },
		"effect":  func(r *record.EffectRecord) { r.Effect += "x" },
		"scope":   func(r *record.EffectRecord) { r.Scope += "x" },
		"cost":    func(r *record.EffectRecord) { r.Cost, r.BudgetAfter = r.Cost+1, r.BudgetAfter-1 },
		"status":  func(r *record.EffectRecord) { r.Failed, r.ResultRef = true, "" },
	} {
		changed := effect
		change(&changed)
		broken(t, name, w.Store, refs["record"], changed.Bytes(), "record")
	}
	result := effect
	result.ResultRef = refs["input"] // whole, but not what the journal says
	broken(t, "result", w.Store, refs["record"], result.Bytes(), "intent")
}

// broken walks log 2 with an object forged, and wants the part to be broken.
func broken(t *testing.T, name string, r store.Reader, ref store.Ref, bytes []byte, part string) {
	t.Helper()
	trail := walk(t, forged{Reader: r, ref: ref, bytes: bytes}, "2")
	if trail.Holds || !slices.Contains(strings.Fields(parts(trail)), part+"!") {
		t.Errorf("another %s: want a broken %s: %s", name, part, parts(trail))
	}
}

func TestRowsAreHeldAgainstTheRecord(t *testing.T) {
	w, _ := world(t)
	for name, r := range map[string]store.Reader{
		"entry!":   edited{Reader: w.Store, entry: func(e *store.Entry) { e.WrittenBy += "x" }},
		"entry!!":  edited{Reader: w.Store, entry: func(e *store.Entry) { e.World = e.Hash }},
		"intent!":  edited{Reader: w.Store, intent: func(i *store.Intent) { i.Outcome.Status = store.StatusFailed }},
		"intent!!": edited{Reader: w.Store, intent: func(i *store.Intent) { i.Request = i.Outcome.Detail }},
	} {
		want := strings.TrimRight(name, "!") + "!"
		if trail := walk(t, r, "2"); trail.Holds || !strings.Contains(parts(trail), want) {
			t.Errorf("want a broken %s: %s", want, parts(trail))
		}
	}
	// The entry before is not the one that the entry names.
	chain := edited{Reader: w.Store, entry: func(e *store.Entry) {
		if e.Index == 1 {
			e.Hash = e.Prev
		}
	}}
	if trail := walk(t, chain, "2"); trail.Holds || !strings.HasPrefix(parts(trail), "entry!") {
		t.Errorf("a broken chain: %s", parts(trail))
	}
	// The session is of another episode, and its grant does not cover the effect.
	other := w.Mint("other", coordtest.Grant("A", "b", 1), coordtest.Grant("C", "d", 1))
	session := swapped{Reader: w.Store, from: sessionOf(t, w), to: other.Object}
	if trail := walk(t, session, "2"); !strings.Contains(parts(trail), "session! grant! mint") {
		t.Errorf("another session: %s", parts(trail))
	}
}

func TestAStoreThatCannotBeReadIsNoFinding(t *testing.T) {
	w, _ := world(t)
	for _, s := range walk(t, w.Store, "2").Steps {
		if s.Bytes == 0 {
			continue
		}
		_, err := why.Walk(t.Context(), damaged{Reader: w.Store, ref: s.Ref, kind: fault.Unavailable}, "2", 1)
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: got %v", s.Part, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := why.Walk(ctx, w.Store, "2", 1); err == nil || fault.Is(err, fault.NotFound) {
		t.Errorf("an ended context: got %v", err)
	}
}

func sessionOf(t *testing.T, w *coordtest.World) store.Ref {
	t.Helper()
	for _, s := range walk(t, w.Store, "2").Steps {
		if s.Part == "session" {
			return s.Ref
		}
	}
	t.Fatal("no session")
	return ""
}

// damaged fails to read one object.
type damaged struct {
	store.Reader
	ref  store.Ref
	kind fault.Kind
}

func (d damaged) Object(ctx context.Context, ref store.Ref) (store.Object, error) {
	if ref == d.ref {
		return store.Object{}, fault.Wrap("test: object", d.kind, errors.New("damaged"), "object %s", ref)
	}
	return d.Reader.Object(ctx, ref)
}

// swapped gives one object in the place of another.
type swapped struct {
	store.Reader
	from, to store.Ref
}

func (s swapped) Object(ctx context.Context, ref store.Ref) (store.Object, error) {
	if ref == s.from {
		ref = s.to
	}
	return s.Reader.Object(ctx, ref)
}

// forged gives other bytes in the place of an object's.
type forged struct {
	store.Reader
	ref   store.Ref
	bytes []byte
}

func (f forged) Object(ctx context.Context, ref store.Ref) (store.Object, error) {
	if ref == f.ref {
		return store.NewObject("", "", f.bytes), nil
	}
	return f.Reader.Object(ctx, ref)
}

// edited changes rows as they are read.
type edited struct {
	store.Reader
	entry  func(*store.Entry)
	intent func(*store.Intent)
}

func (e edited) Entry(ctx context.Context, index int64) (store.Entry, error) {
	v, err := e.Reader.Entry(ctx, index)
	if e.entry != nil {
		e.entry(&v)
	}
	return v, err
}

func (e edited) IntentOf(ctx context.Context, id store.InvocationID) (store.Intent, error) {
	v, err := e.Reader.IntentOf(ctx, id)
	if e.intent != nil {
		e.intent(&v)
	}
	return v, err
}
