package why_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"world/broker"
	"world/coordinator/coordtest"
	"world/fault"
	"world/session"
	"world/store"
	"world/store/record"
	"world/store/why"
)

// world is one with a call of each kind: log 1 mints, 2 succeeds, 3 fails, 4 is
// lost, 5 is denied by budget, 6 is denied by name, 7 is pure.
func world(t *testing.T) (*coordtest.World, session.Live) {
	t.Helper()
	hand := &coordtest.Hand{Answer: func(job broker.Job) broker.Result {
		switch {
		case strings.Contains(string(job.Payload), "fail"):
			return coordtest.Fail("the disk is on fire")
		case strings.Contains(string(job.Payload), "lose"):
			return coordtest.Lose("nobody knows")
		}
		return coordtest.Succeed(`{"done":true}`)
	}}
	w := coordtest.New(t, coordtest.Handlers{coordtest.Write: hand, coordtest.Read: hand}, nil)
	live := w.Mint("ep", coordtest.Grant("Other.Effect", "x", 1), coordtest.Grant(coordtest.Write, coordtest.Scope, 3))
	w.Must(live, coordtest.Act, "ok", `{"do":"write"}`)
	w.Must(live, coordtest.Act, "fail", `{"do":"fail"}`)
	w.Must(live, coordtest.Act, "lose", `{"do":"lose"}`)
	w.Must(live, coordtest.Act, "budget", `{}`)
	w.Must(live, coordtest.Act, "name", `{"effect":"Workspace.Read"}`)
	w.Must(live, coordtest.Echo, "pure", `{"x":1}`)
	return w, live
}

func walk(t *testing.T, r store.Reader, target string) why.Trail {
	t.Helper()
	trail, err := why.Walk(t.Context(), r, target, why.DefaultScan)
	if err != nil {
		t.Fatalf("why %s: %v", target, err)
	}
	return trail
}

// parts are the parts of a trail in their order, a broken one with a mark.
func parts(trail why.Trail) string {
	names := make([]string, len(trail.Steps))
	for i, s := range trail.Steps {
		names[i] = s.Part
		if s.Fault != "" {
			names[i] += "!"
		}
	}
	return strings.Join(names, " ")
}

// says is what the first step of a part says.
func says(t *testing.T, trail why.Trail, part string) string {
	t.Helper()
	for _, s := range trail.Steps {
		if s.Part == part {
			return s.Says
		}
	}
	t.Errorf("no step %s in %s", part, parts(trail))
	return ""
}

const (
	head = "entry invocation source interpreter registry input "
	tail = " output session grant mint"
)

func TestWalkOfEveryKindOfCall(t *testing.T) {
	w, _ := world(t)
	for index, c := range map[int64]struct {
		parts, part, says string
	}{
		2: {head + "plan request record intent result" + tail, "record", "allowed, budget 3 to 2"},
		3: {head + "plan request record intent failure" + tail, "failure", "the disk is on fire"},
		4: {head + "plan request intent failure" + tail, "intent", "effect:ep:2 at 1700000000, indeterminate"},
		5: {head + "plan request record" + tail, "record", "denied:budget, budget 0 unchanged"},
		6: {head + "plan request record" + tail, "grant", "none names the effect Workspace.Read"},
		7: {head + "output session mint", "output", `{"echo":{"x":1},"world":{"effects":[],"plan":null}}`},
		1: {"entry session", "session", "episode ep, 2 grant(s), live from 1700000000 until 1700003600"},
		0: {"entry genesis registry", "registry", "revision 1 with 6 transitions"},
	} {
		trail := walk(t, w.Store, fmt.Sprint(index))
		if !trail.Holds || parts(trail) != c.parts {
			t.Errorf("log %d: holds %v: %s\nwant %s", index, trail.Holds, parts(trail), c.parts)
		}
		if got := says(t, trail, c.part); got != c.says {
			t.Errorf("log %d: %s says %q, want %q", index, c.part, got, c.says)
		}
	}
	trail := walk(t, w.Store, "2")
	if got := says(t, trail, "grant"); got != "grant 1: Workspace.Write=worktree:3" {
		t.Errorf("the deciding grant is %q", got)
	}
	if got := says(t, trail, "mint"); got != "log 1 by host:session-mint" {
		t.Errorf("the mint is %q", got)
	}
}

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

func TestRevocationLeadsToTheMint(t *testing.T) {
	w, live := world(t)
	if _, err := w.Office().Revoke(t.Context(), live.Credential, w.Now()); err != nil {
		t.Fatal(err)
	}
	trail := walk(t, w.Store, "head")
	if got := parts(trail); got != "entry revocation session mint" || !trail.Holds {
		t.Errorf("got %s", got)
	}
}

// A call that was cut off has a claim and an intent and no entry.
func TestACallWithoutAnEntry(t *testing.T) {
	w, live := world(t)
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

func TestWhatIsShownCannotSteerATerminal(t *testing.T) {
	w, live := world(t)
	w.Must(live, coordtest.Echo, "steer", `{"x":"\u001b[2J\u202e\u0007ok"}`)
	for _, s := range walk(t, w.Store, "head").Steps {
		if strings.ContainsFunc(s.Says, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' }) {
			t.Errorf("%s says %q", s.Part, s.Says)
		}
	}
	long := walk(t, w.Store, "head")
	for _, s := range long.Steps {
		if n := len([]rune(s.Says)); n > 200 {
			t.Errorf("%s says %d runes", s.Part, n)
		}
	}
	if got := says(t, long, "output"); !strings.Contains(got, "ok") {
		t.Errorf("the output says %q", got)
	}
}
