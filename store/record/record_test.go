package record_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"world/broker/law"
	"world/fault"
	"world/store"
	"world/store/record"
)

// ref is a ref that is easy to recognise in a golden text.
func ref(c string) store.Ref { return store.Ref("sha256:" + strings.Repeat(c, 64)) }

const credential = store.CredentialID("cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc")

// Samples of every form, one of each lawful arm.
var (
	request   = record.EffectRequest{Effect: "Workspace.Read", Scope: "worktree", Cost: 1, Now: 1700000000, Payload: []byte(`{"op":"read"}`)}
	succeeded = record.EffectRecord{Effect: "E", Scope: "s", Cost: 2, BudgetBefore: 5, BudgetAfter: 3, Allowed: true, RequestRef: ref("a"), ResultRef: ref("b")}
	failed    = record.EffectRecord{Effect: "E", Scope: "s", Cost: 2, BudgetBefore: 5, BudgetAfter: 3, Allowed: true, Failed: true, RequestRef: ref("a")}
	denied    = record.EffectRecord{Effect: "E", Scope: "s", Cost: 2, BudgetBefore: 1, BudgetAfter: 1, Denial: "denied:budget", RequestRef: ref("a")}
	session   = record.SessionRecord{Credential: credential, Episode: "ep", Grants: []record.SessionGrant{{Effect: "E", Scope: "s", Budget: 5}, {Effect: "E", Scope: "t"}}, CreatedAt: 10, ExpiresAt: 20}
	pure      = record.InvocationRecord{InvocationID: "mcp:ep:t", EpisodeID: "ep", SkillID: "act", TransitionFn: ref("1"), Interpreter: ref("2"), Input: ref("3"), Output: ref("4"), Registry: ref("5"), Session: ref("6"), Now: 11}
	revision  = record.RegistryRevision{Revision: 1, Entries: []record.Descriptor{descriptor("a"), descriptor("b")}}
	genesis   = record.GenesisRecord{Registry: ref("a"), At: 10, Nonce: strings.Repeat("0f", 16)}
	revoked   = record.RevocationRecord{Session: ref("a"), At: 10}
	word      = record.ReconciliationRecord{Intent: "effect:ep:0", Verdict: "abandoned", Note: "n", By: "b", At: 10}
)

func effectful(effects ...record.EffectOutcome) record.InvocationRecord {
	r := pure
	r.Plan, r.Effects, r.Ordinal = ref("7"), effects, 3
	return r
}

func descriptor(id store.TransitionID) record.Descriptor {
	return record.Descriptor{
		ID: id, Title: "T", Description: "D", TransitionFn: ref("1"), Interpreter: ref("2"),
		InputSchema: json.RawMessage(`{}`), OutputSchema: json.RawMessage(`{"a":1}`),
		Access: record.Triple{Effect: "E", Scope: "s"}, DeclaredEffects: []record.Triple{{Effect: "E", Scope: "s", Cost: 1}},
	}
}

// outcomes are the lawful ends of an effect.
var outcomes = []record.EffectOutcome{
	{ID: "e1", Status: "ok", Grant: 1, Request: ref("8"), Record: ref("9"), Intent: "effect:ep:3"},
	{ID: "e1", Status: "failed", Grant: 1, Request: ref("8"), Record: ref("9"), Intent: "effect:ep:3", Detail: ref("d")},
	{ID: "e1", Status: "denied", Grant: -1, Request: ref("8"), Record: ref("9")},
	{ID: "e1", Status: "indeterminate", Grant: 1, Request: ref("8"), Intent: "effect:ep:3", Detail: ref("d")},
}

// form is one byte form: its samples, with golden bytes, and its decoder.
type form struct {
	name   string
	golden map[string]func() []byte // golden text to the sample's bytes
	decode func([]byte) ([]byte, error)
}

func decoder[T interface{ Bytes() []byte }](decode func([]byte) (T, error)) func([]byte) ([]byte, error) {
	return func(raw []byte) ([]byte, error) {
		v, err := decode(raw)
		if err != nil {
			return nil, err
		}
		return v.Bytes(), nil
	}
}

var (
	r64   = func(c string) string { return `"sha256:` + strings.Repeat(c, 64) + `"` }
	forms = []form{
		{"request", map[string]func() []byte{
			`14:Workspace.Read8:worktree1:1700000000:{"op":"read"}`: request.Bytes,
			`0:0:0:0:`: record.EffectRequest{}.Bytes,
			"2:é1::-1:-9223372036854775808:\x00\xff": record.EffectRequest{Effect: "é", Scope: ":", Cost: -1, Now: -1 << 63, Payload: []byte{0, 255}}.Bytes,
		}, decoder(record.DecodeRequest)},
		{"effect", map[string]func() []byte{
			`{"effect":"E","scope":"s","cost":2,"budgetBefore":5,"budgetAfter":3,"allowed":true,"failed":false,"denial":"","requestRef":` + r64("a") + `,"resultRef":` + r64("b") + `}`: succeeded.Bytes,
			`{"effect":"E","scope":"s","cost":2,"budgetBefore":5,"budgetAfter":3,"allowed":true,"failed":true,"denial":"","requestRef":` + r64("a") + `,"resultRef":""}`:                failed.Bytes,
			`{"effect":"E","scope":"s","cost":2,"budgetBefore":1,"budgetAfter":1,"allowed":false,"failed":false,"denial":"denied:budget","requestRef":` + r64("a") + `,"resultRef":""}`: denied.Bytes,
		}, decoder(record.DecodeEffect)},
		{"session", map[string]func() []byte{
			`{"credentialId":"` + string(credential) + `","episode":"ep","grants":[{"effect":"E","scope":"s","budget":5},{"effect":"E","scope":"t","budget":0}],"createdAt":10,"expiresAt":20}`: session.Bytes,
		}, decoder(record.DecodeSession)},
		{"invocation", map[string]func() []byte{
			`{"invocationId":"mcp:ep:t","episodeId":"ep","skillId":"act","transitionFn":` + r64("1") + `,"interpreter":` + r64("2") + `,"semanticsEpoch":0,"input":` + r64("3") + `,"output":` + r64("4") + `,"plan":"","effects":[],"registry":` + r64("5") + `,"session":` + r64("6") + `,"ordinal":0,"now":11,"failure":""}`:                                                                                                                                          pure.Bytes,
			`{"invocationId":"mcp:ep:t","episodeId":"ep","skillId":"act","transitionFn":` + r64("1") + `,"interpreter":` + r64("2") + `,"semanticsEpoch":0,"input":` + r64("3") + `,"output":` + r64("4") + `,"plan":` + r64("7") + `,"effects":[{"id":"e1","status":"ok","grant":1,"request":` + r64("8") + `,"record":` + r64("9") + `,"intent":"effect:ep:3","detail":""}],"registry":` + r64("5") + `,"session":` + r64("6") + `,"ordinal":3,"now":11,"failure":""}`: effectful(outcomes[0]).Bytes,
		}, decoder(record.DecodeInvocation)},
		{"registry", map[string]func() []byte{
			`{"revision":1,"parent":"","entries":[{"id":"a","title":"T","description":"D","transitionFn":` + r64("1") + `,"interpreter":` + r64("2") + `,"semanticsEpoch":0,"inputSchema":{},"outputSchema":{"a":1},"access":{"effect":"E","scope":"s","cost":0},"declaredEffects":[{"effect":"E","scope":"s","cost":1}]}]}`: record.RegistryRevision{Revision: 1, Entries: revision.Entries[:1]}.Bytes,
		}, decoder(record.DecodeRegistry)},
		{"genesis", map[string]func() []byte{`{"registry":` + r64("a") + `,"at":10,"nonce":"0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f"}`: genesis.Bytes}, decoder(record.DecodeGenesis)},
		{"revocation", map[string]func() []byte{`{"session":` + r64("a") + `,"at":10}`: revoked.Bytes}, decoder(record.DecodeRevocation)},
		{"reconciliation", map[string]func() []byte{`{"intent":"effect:ep:0","verdict":"abandoned","note":"n","by":"b","at":10}`: word.Bytes}, decoder(record.DecodeReconciliation)},
	}
)

// TestGolden pins the bytes of every form, and reads them back.
func TestGolden(t *testing.T) {
	for _, f := range forms {
		for golden, sample := range f.golden {
			if got := string(sample()); got != golden {
				t.Errorf("%s:\ngot  %q\nwant %q", f.name, got, golden)
			}
			if again, err := f.decode([]byte(golden)); err != nil || string(again) != golden {
				t.Errorf("%s: read back as %s, %v", f.name, again, err)
			}
		}
	}
}

// TestOneByteForm changes the text of a JSON form without changing its meaning,
// or a little beyond, and checks that each change is refused.
func TestOneByteForm(t *testing.T) {
	for _, f := range forms[1:] {
		for golden := range f.golden {
			at := strings.Index(golden, ",")
			for name, raw := range map[string]string{
				"nothing":        "",
				"null":           "null",
				"an array":       "[" + golden + "]",
				"white space":    golden[:1] + " " + golden[1:],
				"a newline":      golden + "\n",
				"trailing data":  golden + "{}",
				"unknown member": golden[:len(golden)-1] + `,"x":1}`,
				"missing member": "{" + golden[at+1:],
				"duplicate":      golden[:at] + "," + golden[1:],
				"other case":     `{"` + strings.ToUpper(golden[2:3]) + golden[3:],
				"escaped":        `{"\u00` + hex(golden[2]) + golden[3:],
				"cut short":      golden[:len(golden)-1],
				"bad UTF-8":      golden[:2] + "\xff" + golden[3:],
				"too large":      golden + strings.Repeat(" ", 16<<20),
			} {
				if _, err := f.decode([]byte(raw)); err == nil || fault.KindOf(err) != fault.Invalid && fault.KindOf(err) != fault.Limit {
					t.Errorf("%s with %s: %v", f.name, name, err)
				}
			}
		}
	}
}

func hex(c byte) string { return string("0123456789abcdef"[c>>4]) + string("0123456789abcdef"[c&15]) }

// TestRequestRefusals checks the one form that is not JSON.
func TestRequestRefusals(t *testing.T) {
	for _, raw := range []string{
		"", "0", "0:", "0:0:", "0:0:0:", "0:0:0:0", "00:0:0:0:", "+0:0:0:0:", "-0:0:0:0:", "0:0:00:0:", "0:0:0:-0:", "0:0:+1:0:",
		"1:0:0:0:", "9:a", "-1:0:0:0:", "99999999999999999999:", "0:0:9223372036854775808:0:", " 0:0:0:0:", "0:0:0x1:0:", "0:0:1_0:0:",
	} {
		if q, err := record.DecodeRequest([]byte(raw)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %+v, %v", raw, q, err)
		}
	}
}

// TestRequestForLaw checks what of a request the law decides.
func TestRequestForLaw(t *testing.T) {
	if got := request.Law(); got != (law.Request{Effect: "Workspace.Read", Scope: "worktree", Cost: 1, Now: 1700000000}) {
		t.Errorf("%+v", got)
	}
}

// TestRequestsDoNotCollide checks that no two requests share bytes by moving
// characters over a border of fields.
func TestRequestsDoNotCollide(t *testing.T) {
	seen := map[string]record.EffectRequest{}
	for _, effect := range []law.Effect{"", "1:", ":", "a", "a1:"} {
		for _, scope := range []law.Scope{"", "1:", ":", "a"} {
			for _, cost := range []int64{0, 1, 11} {
				for _, payload := range []string{"", "1:", ":", "0:"} {
					q := record.EffectRequest{Effect: effect, Scope: scope, Cost: cost, Now: cost, Payload: []byte(payload)}
					if other, ok := seen[string(q.Bytes())]; ok {
						t.Errorf("%+v and %+v are both %q", q, other, q.Bytes())
					}
					seen[string(q.Bytes())] = q
				}
			}
		}
	}
}

// FuzzDecode feeds every decoder any bytes: what is accepted encodes to the same
// bytes again, and what is refused is refused by kind.
func FuzzDecode(f *testing.F) {
	for _, form := range forms {
		for golden := range form.golden {
			f.Add([]byte(golden))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, form := range forms {
			again, err := form.decode(raw)
			switch {
			case err == nil && !bytes.Equal(again, raw):
				t.Errorf("%s accepts %q as %q", form.name, raw, again)
			case err != nil && fault.KindOf(err) != fault.Invalid && fault.KindOf(err) != fault.Limit:
				t.Errorf("%s: %v", form.name, err)
			}
		}
	})
}
