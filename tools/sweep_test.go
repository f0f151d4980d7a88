package tools

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"world/confine"
)

// leave makes a folder with a file in it, the episode's own.
func (d desk) leave(at string) {
	d.t.Helper()
	if err := errors.Join(os.MkdirAll(at, 0o700), os.WriteFile(filepath.Join(at, "0"), []byte("v"), 0o600)); err != nil {
		d.t.Fatal(err)
	}
	d.own(episode, at)
	d.own(episode, filepath.Join(at, "0"))
}

// TestSweep removes what lies aside in worktrees, and nothing that is like it.
func TestSweep(t *testing.T) {
	d := newDesk(t, confine.Landlock, "")
	root, outside := filepath.Dir(d.worktree), t.TempDir()
	aside := confine.Aside()
	for _, at := range []string{"ep-1/" + aside, "ep-2/" + aside, "ep-2/" + aside + "x", "ep-2/deep/" + aside, ".check-1/" + aside} {
		d.leave(filepath.Join(root, at))
	}
	d.leave(filepath.Join(outside, aside))
	if err := errors.Join(os.Symlink(outside, filepath.Join(root, "ep-3")), os.WriteFile(filepath.Join(root, "ep-4"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := d.handler.Sweep(); err != nil {
			t.Fatal(err)
		}
	}
	var found []string
	for _, at := range []string{"ep-1", "ep-2", "ep-2/deep", ".check-1"} {
		for _, name := range keptIn(t, filepath.Join(root, at)) {
			if strings.HasPrefix(name, aside) {
				found = append(found, at+strings.TrimPrefix(name, aside))
			}
		}
	}
	if want := []string{"ep-2x", "ep-2/deep", ".check-1"}; !slices.Equal(found, want) {
		t.Errorf("left are %v, want %v", found, want)
	}
	if len(keptIn(t, outside)) != 1 {
		t.Error("swept through a link")
	}
}

// TestAsideIsNobodys: what lies aside no tool shows, and no tool makes or takes.
func TestAsideIsNobodys(t *testing.T) {
	d := newDesk(t, confine.Namespaces, "")
	aside := confine.Aside()
	at := filepath.Join(d.worktree, aside)
	d.leave(at)
	d.put("seen", "v")
	for payload, want := range map[string]string{
		`{"op":"list"}`: `"seen"`, `{"op":"list","flags":{"glob":"**"}}`: `"seen"`, `{"op":"search","query":"v"}`: `"seen"`,
		`{"op":"read","path":"` + aside + `/0"}`: "have not put in its place", `{"op":"read","path":"seen"}`: `"v"`,
	} {
		r := d.handle(WorkspaceRead, payload)
		if text := string(r.Output); !strings.Contains(text, want) || strings.Contains(text, aside) && strings.Contains(text, `"ok":true`) {
			t.Errorf("%s: %s %s", payload, text, r.Detail)
		}
	}
	d.put("makes.py", "import os,sys\nos.mkdir(sys.argv[1])\nopen('beside','w')\n")
	other := confine.Aside()
	if _, a := d.runs(AilangRun, `{"path":"makes.py","argv":["`+other+`"]}`); a.Kept || a.Limit == nil || !strings.HasPrefix(a.Limit.Message, other) || d.get("beside") == "" {
		t.Errorf("%+v", a)
	}
	if _, a := d.runs(AilangRun, `{"path":"makes.py","argv":["`+other+`x"]}`); !a.Kept || d.get("beside") != "" {
		t.Errorf("control: %+v", a)
	}
	// A run takes away what lies there at its end, however it ends.
	for source, kept := range map[string]bool{"raise SystemExit(3)": true, "while True: print('x' * 1000)": false} {
		d.leave(at)
		d.put("ends.py", source+"\n")
		if _, a := d.runs(AilangRun, `{"path":"ends.py"}`); a.Kept != kept {
			t.Errorf("%+v", a)
		}
		if _, err := os.Lstat(at); err == nil {
			t.Errorf("%s: it is still there", source)
		}
	}
}
