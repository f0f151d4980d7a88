package overlay_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"world/confine"
	"world/tools/overlay"
)

// TestSizesCountByName: holes and further names of a file take no room in a layer of
// 4 MiB, and count all the same, since the worktree gets them in full.
func TestSizesCountByName(t *testing.T) {
	const over = "is beyond the 4194304 bytes that a run may change"
	for name, c := range map[string]struct{ script, says string }{
		"holes":            {"for i in 1 2 3 4; do truncate -s 1M h$i; done", ""},
		"too many holes":   {"for i in 1 2 3 4; do truncate -s 1M h$i; done; echo x > i", "i: " + over},
		"names":            {"head -c 524288 /dev/zero > n; for i in 1 2 3 4 5 6 7; do ln n n$i; done", ""},
		"too many names":   {"head -c 524288 /dev/zero > n; for i in 1 2 3 4 5 6 7 8; do ln n n$i; done", "n8: " + over},
		"names of a hole":  {"truncate -s 1M n; for i in 1 2 3 4; do ln n deep/n$i; done", over},
		"what is replaced": {"truncate -s 1M a.txt; rm a.txt; for i in 1 2 3 4; do truncate -s 1M a.txt; rm a.txt; done; truncate -s 1M a.txt", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			was := s.tree()
			got := s.shell(c.script)
			if kept := got.Applied == confine.WasApplied; got.Bound != confine.Unbounded || kept != (c.says == "") || !strings.Contains(got.Refused, c.says) {
				t.Errorf("applied %q, %q, refused %q; %s", got.Applied, got.Bound, got.Refused, got.Stderr)
			}
			if diff := difference(was, s.tree()); (len(diff) == 0) != (c.says != "") {
				t.Errorf("%d differences", len(diff))
			}
		})
	}
}

// TestManyFilesAreQuick: as many files as a run of the coding tools may have are
// taken over in a time that does not grow faster than their number.
func TestManyFilesAreQuick(t *testing.T) {
	s := newSite(t)
	write := "python3 -c 'import os\nos.mkdir(\"q\")\nfor i in range(%d): open(f\"q/{i}\", \"w\").write(\"v\")'"
	const files = 4000
	began := time.Now()
	got := s.over(confine.Overlay{Bytes: 64 << 20, Files: 4096, Time: 20 * time.Second}, fmt.Sprintf(write, files))
	t.Logf("%d files: %s", files, time.Since(began))
	if got.Applied != confine.WasApplied || time.Since(began) > 15*time.Second {
		t.Errorf("applied %q after %s, %q, refused %q; %s", got.Applied, time.Since(began), got.Bound, got.Refused, got.Stderr)
	}
	if names, err := os.ReadDir(filepath.Join(s.worktree, "q")); err != nil || len(names) != files {
		t.Errorf("%d files, %v", len(names), err)
	}
	s.bare()
}

// bare checks that nothing lies aside any more.
func (s site) bare() {
	s.t.Helper()
	if left, err := filepath.Glob(filepath.Join(s.worktree, ".world-tool-*")); err != nil || left != nil {
		s.t.Errorf("left: %v, %v", left, err)
	}
}

// expiring is a context that ends when it has been asked so many times.
type expiring struct {
	context.Context
	left *int
}

func (e expiring) Err() error {
	if *e.left--; *e.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// TestTooLateChangesNothing: wherever the time ends before the worktree is changed,
// nothing is, and nothing that was prepared stays.
func TestTooLateChangesNothing(t *testing.T) {
	s := newSite(t)
	layer := t.TempDir()
	for _, name := range []string{"deep/er/new", "a.txt", "b.txt", "n0", "n1", "n2"} {
		if err := errors.Join(os.MkdirAll(filepath.Join(layer, filepath.Dir(name)), 0o755), os.WriteFile(filepath.Join(layer, name), []byte("n"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	from, err := os.OpenRoot(layer)
	if err != nil {
		t.Fatal(err)
	}
	to, err := os.OpenRoot(s.worktree)
	if err != nil {
		t.Fatal(err)
	}
	was, late := s.tree(), 0
	for ; ; late++ {
		left := late
		ctx := expiring{t.Context(), &left}
		_, err := overlay.Apply(ctx, confine.TakeOver{Law: s.law, Layer: from, Worktree: to, Bytes: 1 << 20, Begin: func() bool { return ctx.Err() == nil }})
		diff := strings.Join(difference(was, s.tree()), " ")
		if err == nil {
			if diff != "+deep/er/new=n +n0=n +n1=n +n2=n ~a.txt=n ~b.txt=n" {
				t.Errorf("in time: %s", diff)
			}
			break
		}
		if !errors.Is(err, context.DeadlineExceeded) || diff != "" {
			t.Fatalf("late at %d: %v, %s", late, err, diff)
		}
	}
	if late < 20 {
		t.Errorf("the time ended at %d places", late)
	}
	s.bare()
}

// TestDeepFolders are made, judged and removed with few descriptors, however deep.
func TestDeepFolders(t *testing.T) {
	s := newSite(t)
	was := s.tree()
	const levels = 300
	layer := confine.Overlay{Bytes: 4 << 20, Files: 1024, Time: 20 * time.Second}
	deep := strings.TrimSuffix(strings.Repeat("d/", levels), "/")
	if got := s.over(layer, "mkdir -p "+deep+"; echo -n x > "+deep+"/f"); got.Applied != confine.WasApplied {
		t.Fatalf("made: %q %q %s", got.Bound, got.Refused, got.Stderr)
	}
	if text, err := os.ReadFile(filepath.Join(s.worktree, deep, "f")); err != nil || string(text) != "x" {
		t.Fatalf("%q, %v", text, err)
	}
	if got := s.over(layer, "rm -r d; echo -n y > d"); got.Applied != confine.WasApplied {
		t.Fatalf("replaced: %q %q %s", got.Bound, got.Refused, got.Stderr)
	}
	if diff := strings.Join(difference(was, s.tree()), " "); diff != "+d=y" {
		t.Errorf("worktree: %s", diff)
	}
	s.bare()
}
