package record_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"world/broker/law"
	"world/fault"
	"world/store"
	"world/store/record"
)

// refuse checks that an edit makes a sample inconsistent, and that the sample
// itself is not.
func refuse[T interface{ Bytes() []byte }](t *testing.T, decode func([]byte) (T, error), sample T, edits map[string]func(*T)) {
	t.Helper()
	if _, err := decode(sample.Bytes()); err != nil {
		t.Errorf("the sample: %v", err)
	}
	for name, edit := range edits {
		v := sample
		edit(&v)
		if _, err := decode(v.Bytes()); !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.Limit) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type effectEdits = map[string]func(*record.EffectRecord)

func TestDeniedArm(t *testing.T) {
	refuse(t, record.DecodeEffect, denied, effectEdits{
		"failed":     func(r *record.EffectRecord) { r.Failed = true },
		"no label":   func(r *record.EffectRecord) { r.Denial = "" },
		"no denial":  func(r *record.EffectRecord) { r.Denial = "allowed" },
		"debited":    func(r *record.EffectRecord) { r.BudgetAfter-- },
		"refunded":   func(r *record.EffectRecord) { r.BudgetAfter++ },
		"result":     func(r *record.EffectRecord) { r.ResultRef = ref("b") },
		"no request": func(r *record.EffectRecord) { r.RequestRef = "" },
		"bad request": func(r *record.EffectRecord) {
			r.RequestRef = store.Ref(strings.ToUpper(string(ref("a"))))
		},
	})
}

func TestSucceededArm(t *testing.T) {
	refuse(t, record.DecodeEffect, succeeded, effectEdits{
		"label":         func(r *record.EffectRecord) { r.Denial = "denied:budget" },
		"free":          func(r *record.EffectRecord) { r.BudgetAfter = r.BudgetBefore },
		"dear":          func(r *record.EffectRecord) { r.BudgetAfter-- },
		"negative cost": func(r *record.EffectRecord) { r.Cost, r.BudgetAfter = -1, 6 },
		"overspent":     func(r *record.EffectRecord) { r.Cost, r.BudgetAfter = 6, -1 },
		"no result":     func(r *record.EffectRecord) { r.ResultRef = "" },
		"bad result":    func(r *record.EffectRecord) { r.ResultRef = "sha256:b" },
		"wrapped": func(r *record.EffectRecord) {
			r.Cost, r.BudgetBefore, r.BudgetAfter = 1<<63-1, -2, 1<<63-1
		},
	})
}

func TestFailedArm(t *testing.T) {
	refuse(t, record.DecodeEffect, failed, effectEdits{
		"result":     func(r *record.EffectRecord) { r.ResultRef = ref("b") },
		"not failed": func(r *record.EffectRecord) { r.Failed = false },
		"denied":     func(r *record.EffectRecord) { r.Allowed = false },
	})
}

// TestRecordsOfDecisions checks the constructors against the law's answers.
func TestRecordsOfDecisions(t *testing.T) {
	q := record.EffectRequest{Effect: "E", Scope: "s", Cost: 2, Now: 5}
	for budget := int64(0); budget <= 4; budget++ {
		d := law.Decide([]law.Grant{{Effect: "E", Scope: "s", ExpiresAt: 10, Budget: budget}}, q.Law())
		r := record.DeniedEffect(q, d, ref("a"))
		if d.Verdict == law.Allowed {
			r = record.RunEffect(q, d, ref("a"), ref("b"))
			if f := record.RunEffect(q, d, ref("a"), ""); f.Check() != nil || !f.Failed {
				t.Errorf("budget %d: failed record %+v", budget, f)
			}
		}
		if r.Check() != nil || r.Allowed != (budget >= 2) || r.BudgetBefore != budget || r.RequestRef != ref("a") {
			t.Errorf("budget %d: %+v, %v", budget, r, r.Check())
		}
	}
}

func TestSession(t *testing.T) {
	refuse(t, record.DecodeSession, session, map[string]func(*record.SessionRecord){
		"credential":      func(r *record.SessionRecord) { r.Credential = credential[1:] },
		"episode":         func(r *record.SessionRecord) { r.Episode = "Ep" },
		"born negative":   func(r *record.SessionRecord) { r.CreatedAt = -1 },
		"ends first":      func(r *record.SessionRecord) { r.ExpiresAt = r.CreatedAt - 1 },
		"no grants":       func(r *record.SessionRecord) { r.Grants = []record.SessionGrant{} },
		"null grants":     func(r *record.SessionRecord) { r.Grants = nil },
		"no effect":       func(r *record.SessionRecord) { r.Grants = []record.SessionGrant{{Scope: "s"}} },
		"no scope":        func(r *record.SessionRecord) { r.Grants = []record.SessionGrant{{Effect: "E"}} },
		"negative budget": func(r *record.SessionRecord) { r.Grants = []record.SessionGrant{{Effect: "E", Scope: "s", Budget: -1}} },
		"twice": func(r *record.SessionRecord) {
			r.Grants = []record.SessionGrant{{Effect: "E", Scope: "s", Budget: 1}, {Effect: "E", Scope: "s", Budget: 2}}
		},
		"huge": func(r *record.SessionRecord) {
			r.Grants = nil
			for i := range 40_000 {
				r.Grants = append(r.Grants, record.SessionGrant{Effect: law.Effect(fmt.Sprint(i)), Scope: "s"})
			}
		},
	})
	// Names that join alike are still two grants.
	alike := session
	alike.Grants = []record.SessionGrant{{Effect: "a=b", Scope: "c"}, {Effect: "a", Scope: "b=c"}}
	if _, err := record.DecodeSession(alike.Bytes()); err != nil {
		t.Errorf("two grants that join alike: %v", err)
	}
	grants := session.Law()
	if len(grants) != 2 || grants[0] != (law.Grant{Effect: "E", Scope: "s", ExpiresAt: 20, Budget: 5}) || grants[1].ExpiresAt != 20 {
		t.Errorf("grants for the law %+v", grants)
	}
}

func TestInvocation(t *testing.T) {
	edits := map[string]func(*record.InvocationRecord){
		"negative ordinal": func(r *record.InvocationRecord) { r.Ordinal = -1 },
		"negative time":    func(r *record.InvocationRecord) { r.Now = -1 },
	}
	for name, field := range map[string]func(*record.InvocationRecord) *store.Ref{
		"transitionFn": func(r *record.InvocationRecord) *store.Ref { return &r.TransitionFn },
		"interpreter":  func(r *record.InvocationRecord) *store.Ref { return &r.Interpreter },
		"input":        func(r *record.InvocationRecord) *store.Ref { return &r.Input },
		"output":       func(r *record.InvocationRecord) *store.Ref { return &r.Output },
		"registry":     func(r *record.InvocationRecord) *store.Ref { return &r.Registry },
		"session":      func(r *record.InvocationRecord) *store.Ref { return &r.Session },
	} {
		edits["no "+name] = func(r *record.InvocationRecord) { *field(r) = "" }
		edits["bad "+name] = func(r *record.InvocationRecord) { *field(r) = "sha256:" }
	}
	edits["bad plan"] = func(r *record.InvocationRecord) { r.Plan = "sha256:" }
	edits["no failure kind"] = func(r *record.InvocationRecord) { r.Failure = "bad luck" }
	edits["two effects"] = func(r *record.InvocationRecord) { r.Effects = []record.EffectOutcome{outcomes[0], outcomes[0]} }
	refuse(t, record.DecodeInvocation, effectful(outcomes[0]), edits)
	if _, err := record.DecodeInvocation([]byte(strings.Replace(string(pure.Bytes()), `"effects":[]`, `"effects":null`, 1))); !fault.Is(err, fault.Invalid) {
		t.Errorf("null effects: %v", err)
	}
}

// TestEffectOutcomes checks every combination of status and parts against the
// four lawful ones.
func TestEffectOutcomes(t *testing.T) {
	lawful := map[string]bool{}
	for _, o := range outcomes {
		lawful[fmt.Sprint(o.Status, o.Record != "", o.Intent != "", o.Detail != "")] = true
	}
	part := func(on bool, s string) string {
		if on {
			return s
		}
		return ""
	}
	bools := []bool{false, true}
	for _, status := range []string{"ok", "failed", "denied", "indeterminate", "skipped", ""} {
		for _, rec := range bools {
			for _, intent := range bools {
				for _, detail := range bools {
					o := record.EffectOutcome{ID: "e1", Status: status, Request: ref("8"), Record: store.Ref(part(rec, string(ref("9")))),
						Intent: part(intent, "effect:ep:3"), Detail: store.Ref(part(detail, string(ref("d"))))}
					_, err := record.DecodeInvocation(effectful(o).Bytes())
					if want := lawful[fmt.Sprint(status, rec, intent, detail)]; (err == nil) != want {
						t.Errorf("%+v: %v, lawful %v", o, err, want)
					}
				}
			}
		}
	}
	for name, edit := range map[string]func(*record.EffectOutcome){
		"no request": func(o *record.EffectOutcome) { o.Request = "" },
		"bad record": func(o *record.EffectOutcome) { o.Record = "x" },
		"bad detail": func(o *record.EffectOutcome) { o.Detail = "x" },
		"grant -2":   func(o *record.EffectOutcome) { o.Grant = -2 },
	} {
		o := outcomes[1]
		edit(&o)
		if _, err := record.DecodeInvocation(effectful(o).Bytes()); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRegistry(t *testing.T) {
	one := func(edit func(*record.Descriptor)) func(*record.RegistryRevision) {
		return func(r *record.RegistryRevision) {
			d := descriptor("a")
			edit(&d)
			r.Entries = []record.Descriptor{d}
		}
	}
	refuse(t, record.DecodeRegistry, revision, map[string]func(*record.RegistryRevision){
		"revision 0":     func(r *record.RegistryRevision) { r.Revision = 0 },
		"first's parent": func(r *record.RegistryRevision) { r.Parent = ref("a") },
		"no parent":      func(r *record.RegistryRevision) { r.Revision = 2 },
		"order":          func(r *record.RegistryRevision) { r.Entries = []record.Descriptor{descriptor("b"), descriptor("a")} },
		"twice":          func(r *record.RegistryRevision) { r.Entries = []record.Descriptor{descriptor("a"), descriptor("a")} },
		"too many": func(r *record.RegistryRevision) {
			r.Entries = nil
			for i := range 1025 {
				r.Entries = append(r.Entries, descriptor(store.TransitionID(fmt.Sprintf("t%04d", i))))
			}
		},
		"id":           one(func(d *record.Descriptor) { d.ID = "-a" }),
		"transitionFn": one(func(d *record.Descriptor) { d.TransitionFn = "" }),
		"interpreter":  one(func(d *record.Descriptor) { d.Interpreter = "x" }),
		"schema array": one(func(d *record.Descriptor) { d.InputSchema = json.RawMessage(`[]`) }),
		"large schema": one(func(d *record.Descriptor) {
			d.OutputSchema = json.RawMessage(`{"a":"` + strings.Repeat("x", 64<<10) + `"}`)
		}),
		"null declared":   one(func(d *record.Descriptor) { d.DeclaredEffects = nil }),
		"twice declared":  one(func(d *record.Descriptor) { d.DeclaredEffects = append(d.DeclaredEffects, d.DeclaredEffects[0]) }),
		"negative cost":   one(func(d *record.Descriptor) { d.DeclaredEffects = []record.Triple{{Effect: "E", Scope: "s", Cost: -1}} }),
		"no scope":        one(func(d *record.Descriptor) { d.DeclaredEffects = []record.Triple{{Effect: "E"}} }),
		"negative access": one(func(d *record.Descriptor) { d.Access.Cost = -1 }),
		"negative epoch":  one(func(d *record.Descriptor) { d.SemanticsEpoch = -1 }),
	})
	later := revision
	later.Revision, later.Parent = 2, ref("a")
	if _, err := record.DecodeRegistry(later.Bytes()); err != nil {
		t.Errorf("a second revision: %v", err)
	}
}

func TestHostRecords(t *testing.T) {
	refuse(t, record.DecodeGenesis, genesis, map[string]func(*record.GenesisRecord){
		"registry": func(r *record.GenesisRecord) { r.Registry = "" },
		"time":     func(r *record.GenesisRecord) { r.At = -1 },
		"nonce":    func(r *record.GenesisRecord) { r.Nonce = r.Nonce[1:] },
	})
	refuse(t, record.DecodeRevocation, revoked, map[string]func(*record.RevocationRecord){
		"session": func(r *record.RevocationRecord) { r.Session = "sha256:" },
		"time":    func(r *record.RevocationRecord) { r.At = -1 },
	})
	refuse(t, record.DecodeReconciliation, word, map[string]func(*record.ReconciliationRecord){
		"verdict": func(r *record.ReconciliationRecord) { r.Verdict = "ok" },
		"intent":  func(r *record.ReconciliationRecord) { r.Intent = "" },
		"time":    func(r *record.ReconciliationRecord) { r.At = -1 },
	})
}
