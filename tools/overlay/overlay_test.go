package overlay_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"world/confine"
	"world/confine/confinetest"
	"world/tools/overlay"
	"world/tools/policy"
)

// site is a worktree, its policy, and the real jail around the real world-tool.
type site struct {
	t        testing.TB
	jail     *confine.Jail
	worktree string
	user     confine.User
	law      []byte
}

// before is what every worktree of these tests holds: name, a "/" at the end for a
// directory, and content, "-> " before the target of a link.
var before = map[string]string{
	"a.txt": "a", "b.txt": "b", "deep/": "", "deep/er/": "", "deep/er/c.txt": "c", "deep/d.txt": "d",
	".git": "gitdir: elsewhere", ".github/": "", ".github/w.yml": "w", "nested/": "", "nested/.git/": "", "nested/.git/config": "x",
	"nested/file": "n", "in": "-> a.txt", "out": "-> /etc",
}

func newSite(t testing.TB) site {
	t.Helper()
	s := site{t: t, jail: confinetest.Jail(t, 0), worktree: filepath.Join(confinetest.Dir(t), "w"), user: confine.UserOf("overlay test")}
	if err := os.Mkdir(s.worktree, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range before {
			if !yield(name) {
				return
			}
		}
	}) {
		at, text := filepath.Join(s.worktree, name), before[name]
		var err error
		if strings.HasSuffix(name, "/") {
			err = os.Mkdir(at, 0o755)
		} else if target, ok := strings.CutPrefix(text, "-> "); ok {
			err = os.Symlink(target, at)
		} else {
			err = os.WriteFile(at, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	filepath.Walk(s.worktree, func(at string, _ os.FileInfo, err error) error {
		if err != nil || confine.HandOver(at, s.user) != nil {
			t.Fatal(at, err)
		}
		return nil
	})
	var err error
	if s.law, err = policy.For(s.worktree).Render(); err != nil {
		t.Fatal(err)
	}
	return s
}

// file makes an empty file of the episode's own.
func (s site) file(name string) {
	s.t.Helper()
	at := filepath.Join(s.worktree, name)
	if err := os.WriteFile(at, nil, 0o644); err != nil || confine.HandOver(at, s.user) != nil {
		s.t.Fatal(at, err)
	}
}

// shell runs a script over a small layer of the worktree.
func (s site) shell(script string) confine.Result {
	return s.over(confine.Overlay{Bytes: 4 << 20, Files: 256, Time: 20 * time.Second}, script)
}

// over runs a script over a layer of the worktree.
func (s site) over(o confine.Overlay, script string) confine.Result {
	s.t.Helper()
	o.Law = s.law
	result, err := s.jail.Run(context.Background(), confine.Spec{
		Floor: confine.Namespaces, Path: "/bin/sh", Args: []string{"-ec", script}, Env: []string{"PATH=/usr/bin:/bin"},
		Worktree: s.worktree, User: s.user,
		Overlay: &o,
		Limits: confine.Limits{
			Wall: 20 * time.Second, CPU: 10 * time.Second, Memory: 256 << 20, FileSize: 1 << 20, Files: 64,
			Processes: 64, Output: 1 << 16, Scratch: 1 << 20,
		},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return result
}

// tree describes everything in the worktree, as before does, with unusual modes.
func (s site) tree() map[string]string {
	s.t.Helper()
	found := map[string]string{}
	err := filepath.Walk(s.worktree, func(at string, info os.FileInfo, err error) error {
		name, _ := filepath.Rel(s.worktree, at)
		switch {
		case err != nil || name == ".":
			return err
		case info.IsDir():
			found[name+"/"] = mode(info, 0o755)
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(at)
			found[name] = "-> " + target
			return err
		default:
			if info.Mode().Perm() == 0 { // closed to an ordinary user's test too
				os.Chmod(at, 0o400)
			}
			b, err := os.ReadFile(at)
			found[name] = string(b) + mode(info, 0o644)
			return err
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}

func mode(info os.FileInfo, usual os.FileMode) string {
	if info.Mode()&^os.ModeDir == usual {
		return ""
	}
	return fmt.Sprintf(" %v", info.Mode())
}

// difference names what two trees have different.
func difference(was, is map[string]string) []string {
	all := []string{}
	for name, text := range was {
		if now, ok := is[name]; !ok {
			all = append(all, "-"+name)
		} else if now != text {
			all = append(all, "~"+name+"="+now)
		}
	}
	for name, text := range is {
		if _, ok := was[name]; !ok {
			all = append(all, "+"+name+"="+text)
		}
	}
	slices.Sort(all)
	return all
}

func TestApplies(t *testing.T) {
	tests := []struct{ name, script, want, report string }{
		{"nothing", "cat a.txt .git .github/w.yml nested/.git/config >/dev/null; ls -lR >/dev/null", "", ""},
		{"a file", "echo -n x > new", "+new=x", "created new"},
		{"empty", ": > new", "+new=", "created new"},
		{"a change", "echo -n x >> a.txt", "~a.txt=ax", "changed a.txt"},
		{"the same again", "echo -n a > a.txt; touch b.txt; echo -n w > .github/w.yml", "", ""},
		{"a mode", "chmod 755 a.txt; chmod 700 deep", "~a.txt=a -rwxr-xr-x ~deep/= drwx------", "mode a.txt mode deep"},
		{"setuid", "chmod 6755 a.txt", "~a.txt=a -rwxr-xr-x", "mode a.txt"},
		{"closed", "echo -n x > new; chmod 0 new; mkdir c; echo -n y > c/f; chmod 0 c", "+c/= drwx------ +c/f=y +new=x -rw-------",
			"directory c created c/f created new"},
		{"a deletion", "rm a.txt in", "-a.txt -in", "deleted a.txt deleted in"},
		{"a deep deletion", "rm -r deep", "-deep/ -deep/d.txt -deep/er/ -deep/er/c.txt", "deleted deep deleted deep/d.txt deleted deep/er/c.txt"},
		{"made anew", "rm -r deep; mkdir deep; echo -n x > deep/d.txt", "-deep/er/ -deep/er/c.txt ~deep/d.txt=x", "changed deep/d.txt deleted deep/er deleted deep/er/c.txt"},
		{"made anew below", "rm -r deep; mkdir -p deep/er; echo -n x > deep/er/y", "+deep/er/y=x -deep/d.txt -deep/er/c.txt",
			"created deep/er/y deleted deep/er/c.txt deleted deep/d.txt"},
		{"file for directory", "rm -r deep; echo -n x > deep", "+deep=x -deep/ -deep/d.txt -deep/er/ -deep/er/c.txt", "created deep deleted deep/d.txt deleted deep/er/c.txt"},
		{"directory for file", "rm a.txt; mkdir a.txt; echo -n x > a.txt/y", "+a.txt/= +a.txt/y=x -a.txt", "directory a.txt created a.txt/y"},
		{"directory for link", "rm out; mkdir out; echo -n x > out/passwd", "+out/= +out/passwd=x -out", "directory out created out/passwd"},
		{"file for link", "rm in; echo -n x > in", "~in=x", "created in"},
		{"through a link", "echo -n x > in", "~a.txt=x", "changed a.txt"},
		{"links", "ln -s a.txt l; ln -s ../../b.txt deep/er/l; ln -s ./er/../er deep/m || true; ln -s none n; ln -sfn b.txt in; rm deep/m",
			"+deep/er/l=-> ../../b.txt +l=-> a.txt +n=-> none ~in=-> b.txt", "link deep/er/l link in link l link n"},
		{"a rename", "mv a.txt deep/z", "+deep/z=a -a.txt", "deleted a.txt created deep/z"},
		{"hard links", "echo -n x > h; ln h i; ln a.txt j", "+h=x +i=x +j=a", "created h created i created j"},
		{"closed directories go", "mkdir -p q/r; chmod 0 q/r; rm -rf q", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			was := s.tree()
			got := s.shell(test.script)
			if got.Applied != confine.WasApplied || got.Exit != 0 || got.Refused != "" {
				t.Fatalf("%q: exit %d %q, %q; %s", got.Applied, got.Exit, got.Bound, got.Refused, got.Stderr)
			}
			if diff := strings.Join(difference(was, s.tree()), " "); diff != test.want {
				t.Errorf("worktree: %s\nwant:     %s", diff, test.want)
			}
			var report overlay.Report
			if err := json.Unmarshal(got.Changes, &report); err != nil {
				t.Fatal(err)
			}
			said := []string{}
			for _, c := range report.Changes {
				said = append(said, string(c.Kind)+" "+c.Path)
			}
			if text := strings.Join(said, " "); text != test.report || report.Omitted != 0 {
				t.Errorf("report: %s\nwant:   %s", text, test.report)
			}
		})
	}
}
