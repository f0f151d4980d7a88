package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"world/store"
	"world/store/handover"
)

func TestTraceFollowsAFolder(t *testing.T) {
	dir := t.TempDir()
	give := func(name string, j handover.Journal) {
		raw, err := json.Marshal(j)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name+".journal.json"), raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if code, _, errs := verb("trace", dir); code != 2 || !strings.Contains(errs, "no journal was handed over") || strings.Count(errs, "\n") != 1 {
		t.Errorf("an empty folder: exit %d: %s", code, errs)
	}
	lawful := handover.Journal{
		Name:    "lawful",
		Claims:  []store.Claim{{Invocation: "mcp:ep:1", Episode: "ep", Session: "s", At: 5}},
		Intents: []store.Intent{{Episode: "ep", Invocation: "mcp:ep:1", Effect: "Read", Scope: "docs", Cost: 2, At: 5, Epoch: 1}},
		Ledgers: []store.Ledger{{Episode: "ep", Next: 1, Spent: []store.Spent{{Effect: "Read", Scope: "docs", Total: 2}}}},
		Leases:  []store.Lease{{Episode: "ep", Epoch: 1}},
	}
	give("1", lawful)
	code, out, errs := verb("trace", dir)
	if code != 0 || !strings.Contains(out, "1 journals of 1 episodes followed") || !strings.Contains(out, "1  intend") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	refilled := lawful
	refilled.Name, refilled.Ledgers = "refilled", []store.Ledger{{Episode: "ep", Next: 1}}
	give("2", refilled)
	code, out, errs = verb("trace", dir)
	if code != 1 || !strings.Contains(out, `! refilled (2.journal.json): episode "ep": spend of Read=docs: its row says 0, the steps lead to 2`) {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}
