package fsck_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"world/store"
	"world/store/record"
)

// TestOlderSchema opens a store that a build with the first schema wrote. It reads
// back as one that this build has written in the same steps, passes the audit, and
// takes calls.
func TestOlderSchema(t *testing.T) {
	older := &world{t: t, ctx: t.Context(), path: filepath.Join(t.TempDir(), "world.db")}
	unpack(t, filepath.Join("testdata", "schema1.db.gz"), older.path)
	older.reopen()
	same := newWorld(t)
	same.populate()
	same.call("Workspace.Read", "open")
	same.ok(same.Close())
	same.reopen()

	var refs []store.Ref
	var ids []store.InvocationID
	audit, err := same.Audit(t.Context())
	same.ok(err)
	defer audit.Close()
	same.ok(audit.Objects(t.Context(), func(r store.Row[store.StoredObject]) error { refs = append(refs, r.Value.Ref); return nil }))
	same.ok(audit.Claims(t.Context(), func(r store.Row[store.Claim]) error { ids = append(ids, r.Value.Invocation); return nil }))
	if got, want := dump(t.Context(), older, refs, ids), dump(t.Context(), same, refs, ids); got != want {
		t.Errorf("it reads back as\n%s\nand not as\n%s", got, want)
	}
	report := run(t, older)
	if !report.Clean() || fmt.Sprint(report) != fmt.Sprint(run(t, same)) {
		t.Errorf("the audit found %v", report)
	}

	// It goes on from where it was.
	open, err := older.Indeterminate(t.Context(), 500)
	older.ok(err)
	older.calls, older.now = same.calls, same.now
	older.host, older.source, older.interpreter, older.registry = same.host, same.source, same.interpreter, same.registry
	older.session, older.minted = same.session, same.minted
	older.reconcile(open[0].Ordinal)
	older.call("Workspace.Read", record.StatusOK)
	left, err := older.Indeterminate(t.Context(), 500)
	older.ok(err)
	if len(left) != len(open)-1 || len(left) == 0 {
		t.Errorf("%d of %d open intents are left after one was closed", len(left), len(open))
	}
	if findings := run(t, older).Findings; len(findings) > 0 {
		t.Errorf("after a call: %v", findings)
	}
}

// unpack writes what a compressed file holds.
func unpack(t *testing.T, from, to string) {
	t.Helper()
	f, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}
