package plan_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"world/broker/law"
	"world/coordinator/plan"
	"world/fault"
	"world/store/record"
)

var minted = record.SessionRecord{Episode: "ep", ExpiresAt: 200, Grants: []record.SessionGrant{
	{Effect: "Workspace.Read", Scope: "worktree", Budget: 9}, {Effect: "Workspace.Write", Scope: "elsewhere", Budget: 5}}}

// TestExplain checks that what an agent is told names the label, the grant and
// what would help, and for an unknown end that it must not be repeated blindly.
func TestExplain(t *testing.T) {
	write := law.Triple{Effect: "Workspace.Write", Scope: "worktree", Cost: 2}
	denied := func(grant int, v law.Verdict) (record.EffectOutcome, record.EffectRecord) {
		return record.EffectOutcome{Status: record.StatusDenied, Grant: grant}, record.EffectRecord{Denial: v.Label(), BudgetBefore: 1}
	}
	for _, test := range []struct {
		grant   int
		verdict law.Verdict
		holds   []string
	}{
		{-1, law.DeniedEffectName, []string{"denied:effect-name", "no grant", "Workspace.Write=worktree:N"}},
		{1, law.DeniedScope, []string{"denied:scope", "Workspace.Write=elsewhere:5", "Workspace.Write=worktree:N"}},
		{1, law.DeniedExpired, []string{"denied:expired", "Workspace.Write=elsewhere:5", "ended at 200", "decided at 250", "new session for episode ep", "not refill"}},
		{1, law.DeniedBudget, []string{"denied:budget", "Workspace.Write=elsewhere:5", "1 left in episode ep", "costs 2", "larger grant or a new episode"}},
		{7, law.DeniedBudget, []string{"denied:budget", "no grant"}},
	} {
		o, r := denied(test.grant, test.verdict)
		got := plan.Explain(minted, 250, write, o, r, "")
		for _, part := range test.holds {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %q does not hold %q", test.verdict.Label(), got, part)
			}
		}
	}
	failed := plan.Explain(minted, 0, write, record.EffectOutcome{Status: record.StatusFailed}, record.EffectRecord{}, "disk full")
	if !strings.HasPrefix(failed, "Workspace.Write failed: disk full.") || !strings.Contains(failed, "cost of 2 stays spent") {
		t.Errorf("failed: %q", failed)
	}
	if !strings.Contains(failed, "may try again") {
		t.Errorf("failed: %q", failed)
	}
	for detail, again := range map[string]bool{plan.Lasting + "not enabled": false, "the tool says " + plan.Lasting + "not enabled": true} {
		got := plan.Explain(minted, 0, write, record.EffectOutcome{Status: record.StatusFailed}, record.EffectRecord{}, detail)
		if strings.Contains(got, "may try again") != again || strings.Contains(got, "would be refused again") == again || !strings.Contains(got, "not enabled. It is recorded and its cost of 2 stays spent") {
			t.Errorf("%s: %q", detail, got)
		}
	}
	unknown := plan.Explain(minted, 0, write, record.EffectOutcome{Status: record.StatusIndeterminate, Intent: "effect:ep:3"}, record.EffectRecord{}, "killed")
	for _, part := range []string{"not known", "effect:ep:3", "killed", "Do not repeat it blindly", "reconcile"} {
		if !strings.Contains(unknown, part) {
			t.Errorf("indeterminate: %q does not hold %q", unknown, part)
		}
	}
	if got := plan.Explain(minted, 0, write, record.EffectOutcome{Status: record.StatusOK}, record.EffectRecord{}, ""); got != "" {
		t.Errorf("ok: %q", got)
	}
}

// TestExplainIsBounded checks that no part of evidence fills a message.
func TestExplainIsBounded(t *testing.T) {
	long := strings.Repeat("é\x00", 9000)
	huge := law.Triple{Effect: law.Effect(long), Scope: law.Scope(long)}
	for _, o := range []record.EffectOutcome{{Status: record.StatusFailed}, {Status: record.StatusIndeterminate}, {Status: record.StatusDenied, Grant: -1}} {
		got := plan.Explain(minted, 0, huge, o, record.EffectRecord{}, long)
		if len(got) > 4096 || !utf8.ValidString(got) || strings.Contains(got, "\x00") {
			t.Errorf("%s: %d bytes", o.Status, len(got))
		}
	}
}

func TestClip(t *testing.T) {
	for _, test := range []struct {
		in   string
		n    int
		want string
	}{
		{"", 0, ""}, {"abc", 3, "abc"}, {"abcd", 3, "…"}, {"abcdef", 5, "ab…"}, {"éééé", 7, "éé…"}, {"éééé", 6, "é…"},
		{"a\x00b", 9, "a�b"}, {"a\xffb", 9, "a�b"},
	} {
		if got := plan.Clip(test.in, test.n); got != test.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", test.in, test.n, got, test.want)
		}
	}
}

func TestKindOf(t *testing.T) {
	for status, want := range map[string]fault.Kind{"denied": fault.Denied, "failed": fault.Failed, "indeterminate": fault.Indeterminate} {
		if got := plan.KindOf(status); got != want {
			t.Errorf("%s: %v", status, got)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("ok has a fault kind")
		}
	}()
	plan.KindOf(record.StatusOK)
}
