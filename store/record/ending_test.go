package record_test

import (
	"strings"
	"testing"

	"world/fault"
	"world/store/record"
)

var ended = record.EndingRecord{
	Episode: "ep", Spent: []record.SpentOn{{Effect: "E", Scope: "s", Total: 2}, {Effect: "E", Scope: "t"}, {Effect: "F", Scope: "a", Total: 1}},
	Worktree: record.Removed, Changed: &record.Changes{Commit: "c", Files: 3, Added: 2, Deleted: 1}, By: "b", At: 10,
}

func TestEndingHasOneForm(t *testing.T) {
	const golden = `{"episode":"ep","spent":[{"effect":"E","scope":"s","total":2},{"effect":"E","scope":"t","total":0},{"effect":"F","scope":"a","total":1}],` +
		`"worktree":"removed","changed":{"commit":"c","files":3,"added":2,"deleted":1},"by":"b","at":10}`
	if got := string(ended.Bytes()); got != golden {
		t.Errorf("got %s", got)
	}
	bare := record.EndingRecord{Episode: "ep", Spent: []record.SpentOn{}, Worktree: record.NoWorktree}
	kept := ended
	kept.Worktree, kept.Changed = record.Kept, nil
	for _, r := range []record.EndingRecord{ended, kept, bare} {
		if back, err := record.DecodeEnding(r.Bytes()); err != nil || string(back.Bytes()) != string(r.Bytes()) {
			t.Errorf("%s: read as %s, %v", r.Bytes(), back.Bytes(), err)
		}
	}
	if _, err := record.DecodeEnding([]byte(golden + " ")); !fault.Is(err, fault.Invalid) {
		t.Errorf("trailing space: %v", err)
	}
	padded := golden + strings.Repeat(" ", 1<<20-len(golden)+1)
	if _, err := record.DecodeEnding([]byte(padded)); !fault.Is(err, fault.Limit) {
		t.Errorf("one byte over the limit: %v", err)
	}
}

func TestEndingIsConsistent(t *testing.T) {
	refuse(t, record.DecodeEnding, ended, map[string]func(*record.EndingRecord){
		"episode":  func(r *record.EndingRecord) { r.Episode = "Not One" },
		"time":     func(r *record.EndingRecord) { r.At = -1 },
		"no spend": func(r *record.EndingRecord) { r.Spent = nil },
		"effect":   func(r *record.EndingRecord) { r.Spent = []record.SpentOn{{Scope: "s"}} },
		"scope":    func(r *record.EndingRecord) { r.Spent = []record.SpentOn{{Effect: "E"}} },
		"total":    func(r *record.EndingRecord) { r.Spent = []record.SpentOn{{Effect: "E", Scope: "s", Total: -1}} },
		"order of effects": func(r *record.EndingRecord) {
			r.Spent = []record.SpentOn{{Effect: "F", Scope: "s"}, {Effect: "E", Scope: "t"}}
		},
		"order of scopes": func(r *record.EndingRecord) {
			r.Spent = []record.SpentOn{{Effect: "E", Scope: "t"}, {Effect: "E", Scope: "s"}}
		},
		"one spend twice": func(r *record.EndingRecord) {
			r.Spent = []record.SpentOn{{Effect: "E", Scope: "s"}, {Effect: "E", Scope: "s"}}
		},
		"worktree":             func(r *record.EndingRecord) { r.Worktree = "lost" },
		"changes of nothing":   func(r *record.EndingRecord) { r.Worktree = record.NoWorktree },
		"changes of no commit": func(r *record.EndingRecord) { r.Changed = &record.Changes{} },
		"files":                func(r *record.EndingRecord) { r.Changed = &record.Changes{Commit: "c", Files: -1} },
		"added":                func(r *record.EndingRecord) { r.Changed = &record.Changes{Commit: "c", Added: -1} },
		"deleted":              func(r *record.EndingRecord) { r.Changed = &record.Changes{Commit: "c", Deleted: -1} },
	})
}
