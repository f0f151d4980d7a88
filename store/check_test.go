package store_test

import (
	"slices"
	"strings"
	"testing"

	"world/broker/law"
	"world/fault"
	"world/store"
)

var (
	checkInput  = store.NewObject("world/invocation-input/v1", "coordinator:mcp", []byte("input"))
	checkResult = store.NewObject("world/effect-result/v1", "coordinator:mcp", []byte("result"))
	elsewhere   = store.RefOf([]byte("kept elsewhere"))
)

func goodClaim() store.Claim {
	return store.Claim{Invocation: "mcp:ep-1:1", Episode: "ep-1", Transition: "tools.read", TransitionFn: elsewhere,
		Input: checkInput.Ref(), Session: elsewhere, At: 1}
}

func goodIntention() store.Intention {
	return store.Intention{Claim: goodClaim(), Objects: []store.Object{checkInput}, Effect: "Workspace.Read", Scope: "workspace",
		Cost: 1, Budget: 5, Request: checkInput.Ref(), Lease: store.Lease{Episode: "ep-1", Epoch: 1}}
}

func goodDraft() store.Draft {
	return store.Draft{TransitionFn: elsewhere, Interpreter: elsewhere, WrittenBy: "coordinator:mcp",
		Transition: checkResult.Ref(), StateRoot: checkResult.Ref()}
}

func goodFinish() store.Finish {
	return store.Finish{Claim: goodClaim(), Intent: &store.Intent{Episode: "ep-1"}, Lease: store.Lease{Episode: "ep-1", Epoch: 1},
		Outcome: store.Outcome{Status: store.StatusSucceeded, Record: checkResult.Ref(), Detail: elsewhere},
		Objects: []store.Object{checkResult}, Draft: goodDraft(), At: 1}
}

func goodAct(changes ...store.Change) store.Act {
	return store.Act{Objects: []store.Object{checkResult}, Draft: goodDraft(), Changes: changes, At: 1}
}

// Each malformed part differs from a good one, which passes, in one thing.
func TestChecks(t *testing.T) {
	long := strings.Repeat("x", store.MaxText+1)
	labelled := func(semanticID, provenance string) store.Object { return store.NewObject(semanticID, provenance, nil) }
	session := store.Session{Credential: store.CredentialID(strings.Repeat("0", 64)), Object: checkResult.Ref(), Episode: "ep-1", ExpiresAt: 1}
	intention := func(spoil func(*store.Intention)) error { in := goodIntention(); spoil(&in); return in.Check("test") }
	finish := func(spoil func(*store.Finish)) error { f := goodFinish(); spoil(&f); return f.Check("test") }
	act := func(ch store.Change) error { return goodAct(ch).Check("test") }
	minted := func(spoil func(*store.Session)) error {
		s := session
		spoil(&s)
		return act(store.MintSession{Session: s})
	}

	for name, err := range map[string]error{
		"intention":             intention(func(*store.Intention) {}),
		"largest texts":         intention(func(in *store.Intention) { in.Scope = law.Scope(long[1:]) }),
		"finish":                finish(func(*store.Finish) {}),
		"finish without intent": finish(func(f *store.Finish) { f.Intent, f.Outcome = nil, store.Outcome{} }),
		"failed":                finish(func(f *store.Finish) { f.Outcome.Status = store.StatusFailed }),
		"indeterminate":         finish(func(f *store.Finish) { f.Outcome.Status, f.Outcome.Record = store.StatusIndeterminate, "" }),
		"mint":                  minted(func(*store.Session) {}),
		"revoke":                act(store.RevokeSession{Credential: session.Credential, Revocation: elsewhere}),
		"first move":            act(store.MoveRegistry{Name: "r", To: elsewhere}),
		"move":                  act(store.MoveRegistry{Name: "r", From: elsewhere, To: elsewhere}),
		"reconcile":             act(store.ReconcileIntent{Episode: "ep-1", Reconciliation: elsewhere, Lease: store.Lease{Episode: "ep-1"}}),
		"objects":               store.CheckObjects("test", []store.Object{labelled("é", "")}),
		"limit":                 store.CheckLimit("test", store.MaxListing),
		"no refs":               store.CheckRefs("test"),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"no invocation":           intention(func(in *store.Intention) { in.Claim.Invocation = "" }),
		"long invocation":         intention(func(in *store.Intention) { in.Claim.Invocation = store.InvocationID(long[:257]) }),
		"NUL in an invocation":    intention(func(in *store.Intention) { in.Claim.Invocation = "mcp:\x00" }),
		"bad episode":             intention(func(in *store.Intention) { in.Claim.Episode = "EP" }),
		"bad transition":          intention(func(in *store.Intention) { in.Claim.Transition = "" }),
		"claim before time":       intention(func(in *store.Intention) { in.Claim.At = -1 }),
		"claim without input":     intention(func(in *store.Intention) { in.Claim.Input = "" }),
		"lease of another":        intention(func(in *store.Intention) { in.Lease.Episode = "ep-2" }),
		"negative cost":           intention(func(in *store.Intention) { in.Cost = -1 }),
		"no effect":               intention(func(in *store.Intention) { in.Effect = "" }),
		"no scope":                intention(func(in *store.Intention) { in.Scope = "" }),
		"NUL in a scope":          intention(func(in *store.Intention) { in.Scope = "a\x00b" }),
		"effect that is no UTF-8": intention(func(in *store.Intention) { in.Effect = "\xff" }),
		"long scope":              intention(func(in *store.Intention) { in.Scope = law.Scope(long) }),
		"no request":              intention(func(in *store.Intention) { in.Request = "" }),
		"finish before time":      finish(func(f *store.Finish) { f.At = -1 }),
		"negative epoch tag":      finish(func(f *store.Finish) { f.Draft.SemanticsEpoch = -1 }),
		"no author":               finish(func(f *store.Finish) { f.Draft.WrittenBy = "" }),
		"long author":             finish(func(f *store.Finish) { f.Draft.WrittenBy = long }),
		"no interpreter":          finish(func(f *store.Finish) { f.Draft.Interpreter = "" }),
		"intent of another":       finish(func(f *store.Finish) { f.Intent = &store.Intent{Episode: "ep-2"} }),
		"open outcome":            finish(func(f *store.Finish) { f.Outcome.Status = store.StatusOpen }),
		"success without record":  finish(func(f *store.Finish) { f.Outcome.Record = "" }),
		"outcome without detail":  finish(func(f *store.Finish) { f.Outcome.Detail = "" }),
		"record of nothing known": finish(func(f *store.Finish) { f.Outcome.Status = store.StatusIndeterminate }),
		"mint of no credential":   minted(func(s *store.Session) { s.Credential = "secret" }),
		"mint of no episode":      minted(func(s *store.Session) { s.Episode = "" }),
		"mint of the dead":        minted(func(s *store.Session) { s.Revocation = elsewhere }),
		"mint that ends first":    minted(func(s *store.Session) { s.CreatedAt = 2 }),
		"mint without its object": minted(func(s *store.Session) { s.Object = elsewhere }),
		"revoke by nothing":       act(store.RevokeSession{Credential: session.Credential}),
		"move of no name":         act(store.MoveRegistry{To: elsewhere}),
		"move of a long name":     act(store.MoveRegistry{Name: long[:129], To: elsewhere}),
		"move to nothing":         act(store.MoveRegistry{Name: "r"}),
		"move from no ref":        act(store.MoveRegistry{Name: "r", From: "x", To: elsewhere}),
		"reconcile elsewhere":     act(store.ReconcileIntent{Episode: "ep-1", Reconciliation: elsewhere, Lease: store.Lease{Episode: "ep-2"}}),
		"reconcile by nothing":    act(store.ReconcileIntent{Episode: "ep-1", Lease: store.Lease{Episode: "ep-1"}}),
		"no change":               act(nil),
		"object of nowhere":       store.CheckObjects("test", []store.Object{{}}),
		"NUL in a label":          store.CheckObjects("test", []store.Object{labelled("a\x00", "")}),
		"long provenance":         store.CheckObjects("test", []store.Object{labelled("a", long)}),
		"limit 0":                 store.CheckLimit("test", 0),
		"limit over":              store.CheckLimit("test", store.MaxListing+1),
		"short ref":               store.CheckRefs("test", elsewhere, "sha256:00"),
	} {
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: got %v, want invalid", name, err)
		}
	}
}

func TestWhatIsNamedAndNotBrought(t *testing.T) {
	in := goodIntention()
	if got := in.Names(); !slices.Equal(got, []store.Ref{elsewhere}) {
		t.Errorf("an intention names %v beside what it brings", got)
	}
	f := goodFinish()
	if got := f.Names(); !slices.Equal(got, []store.Ref{elsewhere}) {
		t.Errorf("a finish names %v beside what it brings", got)
	}
	f.Objects = nil
	if got := f.Names(); !slices.Equal(got, []store.Ref{elsewhere, checkResult.Ref()}) {
		t.Errorf("a finish that brings nothing names %v", got)
	}
	f.Intent = nil
	if got := f.Names(); !slices.Contains(got, checkInput.Ref()) {
		t.Errorf("a finish without intent names %v: its claim's input is missing", got)
	}
	if got := goodAct().Names(); !slices.Equal(got, []store.Ref{elsewhere}) {
		t.Errorf("an act names %v beside what it brings", got)
	}
}

func TestOpened(t *testing.T) {
	in := goodIntention()
	want := store.Intent{Episode: "ep-1", Invocation: "mcp:ep-1:1", Effect: "Workspace.Read", Scope: "workspace", Cost: 1, Request: in.Request, At: 1, Epoch: 1}
	if got := in.Opened(); got != want {
		t.Errorf("opened %+v, want %+v", got, want)
	}
}

func TestFollows(t *testing.T) {
	head := store.Head{Index: 3, World: elsewhere}
	f := goodFinish()
	for onto, moved := range map[store.Ref]bool{"": false, elsewhere: false, checkInput.Ref(): true} {
		f.Onto = onto
		if err := f.Follows("test", head); fault.Is(err, fault.HeadMoved) != moved || err != nil && !moved {
			t.Errorf("onto %q: %v", onto, err)
		}
	}
}
