package overlay_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"world/confine"
	"world/store"
	"world/tools/overlay"
)

// report runs a script and returns what it is said to have changed.
func (s site) report(script string) overlay.Report {
	s.t.Helper()
	got := s.shell(script)
	var r overlay.Report
	if err := json.Unmarshal(got.Changes, &r); err != nil || got.Applied != confine.WasApplied || got.Exit != 0 {
		s.t.Fatalf("%s: %v, exit %d, %q; %s", script, err, got.Exit, got.Refused, got.Stderr)
	}
	return r
}

func refOf(text string) store.Ref { return store.RefFromSum(sha256.Sum256([]byte(text))) }

// TestReportTellsWhatWasLost: whatever a path becomes, its content before is told,
// and that of each file and link below it.
func TestReportTellsWhatWasLost(t *testing.T) {
	a, b, c, d, x := refOf("a"), refOf("b"), refOf("c"), refOf("d"), refOf("x")
	lost := []overlay.Change{{Path: "deep/d.txt", Kind: overlay.Deleted, Before: d}, {Path: "deep/er/c.txt", Kind: overlay.Deleted, Before: c}}
	for script, want := range map[string][]overlay.Change{
		"rm -r deep":                           append([]overlay.Change{{Path: "deep", Kind: overlay.Deleted}}, lost...),
		"rm -r deep; echo -n x > deep":         append([]overlay.Change{{Path: "deep", Kind: overlay.Created, After: x}}, lost...),
		"rm -r deep; ln -s a.txt deep":         append([]overlay.Change{{Path: "deep", Kind: overlay.Link, Target: "a.txt"}}, lost...),
		"rm -r deep; mkdir deep":               lost[:1:1],
		"echo -n x > a.txt":                    {{Path: "a.txt", Kind: overlay.Changed, Before: a, After: x}},
		"chmod 755 a.txt":                      {{Path: "a.txt", Kind: overlay.Mode, Before: a, After: a}},
		"ln -sf b.txt a.txt":                   {{Path: "a.txt", Kind: overlay.Link, Before: a, Target: "b.txt"}},
		"ln -sfn b.txt in":                     {{Path: "in", Kind: overlay.Link, TargetBefore: "a.txt", Target: "b.txt"}},
		"rm in; echo -n x > in":                {{Path: "in", Kind: overlay.Created, TargetBefore: "a.txt", After: x}},
		"rm in b.txt":                          {{Path: "b.txt", Kind: overlay.Deleted, Before: b}, {Path: "in", Kind: overlay.Deleted, TargetBefore: "a.txt"}},
		"rm b.txt; mkdir b.txt":                {{Path: "b.txt", Kind: overlay.Directory, Before: b}},
		"rm out; mkdir out; echo -n x > out/y": {{Path: "out", Kind: overlay.Directory, TargetBefore: "/etc"}, {Path: "out/y", Kind: overlay.Created, After: x}},
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			if script == "rm -r deep; mkdir deep" { // what is left of it is one directory with a file in it
				want = append(want, overlay.Change{Path: "deep/er", Kind: overlay.Deleted}, lost[1])
			}
			if r := newSite(t).report(script); !slices.Equal(r.Changes, want) || r.Omitted != 0 {
				t.Errorf("got  %+v\nwant %+v", r, want)
			}
		})
	}
}

// TestReportCountsWhatWasLost: files beyond what a report lists are counted, and
// they are gone all the same.
func TestReportCountsWhatWasLost(t *testing.T) {
	s := newSite(t)
	const more = 7
	for i := range overlay.MaxListed + more {
		at := filepath.Join(s.worktree, "deep/er", fmt.Sprintf("f%03d", i))
		if err := os.WriteFile(at, []byte("x"), 0o644); err != nil || confine.HandOver(at, s.user) != nil {
			t.Fatal(err)
		}
	}
	r := s.report("rm -r deep; rm in")
	// The directory itself, c.txt and d.txt, and the link are changes too.
	if len(r.Changes) != overlay.MaxListed || r.Omitted != more+4 {
		t.Errorf("%d listed, %d omitted", len(r.Changes), r.Omitted)
	}
	for _, c := range r.Changes[1:] {
		if c.Kind != overlay.Deleted || !strings.HasPrefix(c.Path, "deep/") || c.Before == "" {
			t.Errorf("%+v", c)
		}
	}
	if _, err := os.Lstat(filepath.Join(s.worktree, "deep")); !os.IsNotExist(err) {
		t.Errorf("deep is still there: %v", err)
	}
}

// TestOwnerCanUseWhatIsTakenOver: a program cannot leave anything that its own
// user, and so the operator's comparison, cannot read or change again.
func TestOwnerCanUseWhatIsTakenOver(t *testing.T) {
	s := newSite(t)
	s.report("echo -n 1 > nr; chmod 0 nr; echo -n 2 > deep/w; chmod 222 deep/w; chmod 0 a.txt; mkdir c; chmod 0 c; chmod 555 deep/er")
	for name, want := range map[string]os.FileMode{"nr": 0o600, "deep/w": 0o622, "a.txt": 0o600, "c": os.ModeDir | 0o700, "deep/er": os.ModeDir | 0o755, "b.txt": 0o644} {
		if info, err := os.Lstat(filepath.Join(s.worktree, name)); err != nil || info.Mode() != want {
			t.Errorf("%s is %v, want %v; %v", name, info.Mode(), want, err)
		}
	}
	// Closing a file again, for nothing else, is no change.
	if r := s.report("chmod 0 nr"); len(r.Changes) != 0 {
		t.Errorf("%+v", r)
	}
}

// TestReportHashesAsMuchAsTimeAllows: a huge file that goes with its directory is
// told of without its hash, and its neighbours with theirs.
func TestReportHashesAsMuchAsTimeAllows(t *testing.T) {
	s := newSite(t)
	if err := os.Truncate(filepath.Join(s.worktree, "deep/d.txt"), 64<<20+1); err != nil {
		t.Fatal(err)
	}
	want := []overlay.Change{{Path: "deep", Kind: overlay.Deleted}, {Path: "deep/d.txt", Kind: overlay.Deleted},
		{Path: "deep/er/c.txt", Kind: overlay.Deleted, Before: refOf("c")}}
	if r := s.report("rm -r deep"); !slices.Equal(r.Changes, want) {
		t.Errorf("got  %+v\nwant %+v", r.Changes, want)
	}
}

// TestNewNamesHideNothing: however many new names there are, however long they are and
// however they are written, what was changed of old files is told, and the rest counted.
func TestNewNamesHideNothing(t *testing.T) {
	for name, script := range map[string]string{
		"many":      "i=0; while [ $i -lt 230 ]; do : > $i; i=$((i+1)); done",
		"long":      "d=$(printf %0200d 0); mkdir $d $d/$d $d/$d/$d; i=0; while [ $i -lt 199 ]; do : > $d/$d/$d/$i$d; i=$((i+1)); done",
		"controls":  `d=$(printf '\001%.0s' $(seq 200)); mkdir $d $d/$d $d/$d/$d; i=0; while [ $i -lt 199 ]; do : > $d/$d/$d/$i$d; i=$((i+1)); done`,
		"in a link": `d=$(printf '\001%.0s' $(seq 200)); i=0; while [ $i -lt 199 ]; do ln -s $d/$d/$d/$d/$d/$d/$d $i; i=$((i+1)); done`,
	} {
		s := newSite(t)
		r := s.report(script + "; echo -n x > in; echo -n x > b.txt; rm -r deep")
		told := map[string]overlay.Kind{}
		for _, c := range r.Changes {
			told[c.Path] = c.Kind
		}
		if told["b.txt"] != overlay.Changed || told["deep/er/c.txt"] != overlay.Deleted || !slices.IsSortedFunc(r.Changes, func(a, b overlay.Change) int { return strings.Compare(a.Path, b.Path) }) {
			t.Errorf("%s: %v", name, told)
		}
		if all := len(r.Changes) + r.Omitted; all < 200 || r.Omitted == 0 {
			t.Errorf("%s: %d listed, %d omitted", name, len(r.Changes), r.Omitted)
		}
	}
}
