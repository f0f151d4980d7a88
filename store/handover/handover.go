// Package handover takes the journal out of a store, so that it can be checked
// elsewhere: against the journal model, which needs rooms above the store's.
//
// It promises that a journal holds every row that the model speaks of as the
// engine reads it, below the bounds of one audit, with the evidence that the rows
// name. It refuses damaged rows: they are for package fsck. It checks nothing else.
package handover

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"world/fault"
	"world/infile"
	"world/store"
	"world/store/record"
)

// Journal is what a store says happened.
type Journal struct {
	Name     string                 `json:"name"` // of whoever handed it over, for a reader
	Entries  []store.Entry          `json:"entries"`
	Claims   []store.Claim          `json:"claims"`
	Intents  []store.Intent         `json:"intents"` // by episode, then ordinal
	Ledgers  []store.Ledger         `json:"ledgers"`
	Sessions []store.Session        `json:"sessions"`
	Leases   []store.Lease          `json:"leases"`
	Evidence map[store.Ref]Evidence `json:"evidence"`
}

// Evidence is an object that the journal's rows name.
type Evidence struct {
	SemanticID string `json:"semanticId"`
	Bytes      []byte `json:"bytes"`
}

// maxEvidence is the largest object that a journal carries, in bytes.
const maxEvidence = 1 << 20

// kept are the semantic ids of evidence.
var kept = map[string]bool{
	record.Session: true, record.Revocation: true, record.Reconciliation: true,
	record.Invocation: true, record.Request: true,
}

// Read takes the journal out of a store. Corrupt when a row is damaged.
func Read(ctx context.Context, from store.Auditor, name string) (Journal, error) {
	j := Journal{Name: name, Evidence: map[store.Ref]Evidence{}}
	a, err := from.Audit(ctx)
	if err != nil {
		return j, err
	}
	defer a.Close()
	for _, read := range []func() error{
		func() error { return all(&j.Entries, func(v visit[store.Entry]) error { return a.Entries(ctx, v) }) },
		func() error { return all(&j.Claims, func(v visit[store.Claim]) error { return a.Claims(ctx, v) }) },
		func() error { return all(&j.Intents, func(v visit[store.Intent]) error { return a.Intents(ctx, v) }) },
		func() error { return all(&j.Ledgers, func(v visit[store.Ledger]) error { return a.Ledgers(ctx, v) }) },
		func() error {
			return all(&j.Sessions, func(v visit[store.Session]) error { return a.Sessions(ctx, v) })
		},
		func() error { return all(&j.Leases, func(v visit[store.Lease]) error { return a.Leases(ctx, v) }) },
	} {
		if err := read(); err != nil {
			return j, err
		}
	}
	return j, a.Objects(ctx, func(r store.Row[store.StoredObject]) error {
		for _, l := range r.Value.Labels {
			if r.Fault == nil && kept[l.SemanticID] && len(r.Value.Bytes) <= maxEvidence {
				j.Evidence[r.Value.Ref] = Evidence{l.SemanticID, r.Value.Bytes}
			}
		}
		return r.Fault
	})
}

type visit[T any] = func(store.Row[T]) error

func all[T any](into *[]T, rows func(visit[T]) error) error {
	return rows(func(r store.Row[T]) error {
		*into = append(*into, r.Value)
		return r.Fault
	})
}

// Folder is the environment variable that names the folder to which suites hand
// their journals over. Without it they keep them.
const Folder = "WORLD_JOURNALS"

// Offer hands a store's journal over, if a folder is named and its rows are whole.
func Offer(ctx context.Context, from store.Auditor, name string) error {
	dir := os.Getenv(Folder)
	if dir == "" {
		return nil
	}
	j, err := Read(ctx, from, name)
	if fault.Is(err, fault.Corrupt) {
		return nil
	}
	if err != nil {
		return err
	}
	raw, err := json.Marshal(j)
	if err != nil {
		return fault.Wrap("handover", fault.Internal, err, "")
	}
	f, err := os.CreateTemp(dir, "*.journal.json")
	if err != nil {
		return fault.Wrap("handover", fault.Unavailable, err, "the folder of journals cannot be written")
	}
	_, err = f.Write(raw)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fault.Wrap("handover", fault.Unavailable, err, "the folder of journals cannot be written")
	}
	return nil
}

// maxJournal is how many bytes of one journal are read.
const maxJournal = 1 << 30

// Load reads every journal that was handed over to a folder.
func Load(dir string) ([]Journal, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.journal.json"))
	if err != nil || len(files) == 0 {
		return nil, fault.Wrap("handover", fault.NotFound, err, "no journal was handed over to %s", dir)
	}
	var out []Journal
	for _, file := range files {
		raw, err := infile.Read(file, maxJournal)
		if err != nil {
			return nil, err
		}
		var j Journal
		if err := json.Unmarshal(raw, &j); err != nil {
			return nil, fault.Wrap("handover", fault.Invalid, err, "%s is not a journal", file)
		}
		j.Name = fmt.Sprintf("%s (%s)", j.Name, filepath.Base(file))
		out = append(out, j)
	}
	return out, nil
}
