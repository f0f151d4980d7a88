package confine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"world/confine"
)

// over is a spec of a shell script that runs over a layer.
func (s site) over(script string) confine.Spec {
	spec := s.spec("-c", script)
	spec.Path = "/bin/sh"
	spec.Env = []string{"PATH=/usr/bin:/bin"}
	spec.Overlay = &confine.Overlay{Law: []byte("a law"), Bytes: 1 << 20, Files: 32, Time: 5 * time.Second}
	return spec
}

// holds checks the names and contents of the worktree's files; "*" is any.
func (s site) holds(want map[string]string) {
	s.t.Helper()
	entries, err := os.ReadDir(s.worktree)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range entries {
		got, err := os.ReadFile(filepath.Join(s.worktree, e.Name()))
		if text, ok := want[e.Name()]; err != nil || !ok || text != string(got) && text != "*" {
			s.t.Errorf("worktree: %s holds %q, %v", e.Name(), got, err)
		}
	}
	if len(entries) != len(want) {
		s.t.Errorf("worktree holds %d files, not %d", len(entries), len(want))
	}
}

// another makes a further worktree beside the site's own.
func (s site) another(name string) string {
	s.t.Helper()
	dir := filepath.Join(filepath.Dir(s.worktree), strings.ReplaceAll(name, " ", "-"))
	if err := os.Mkdir(dir, 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := confine.HandOver(dir, s.user); err != nil {
		s.t.Fatal(err)
	}
	return dir
}

func (s site) put(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.worktree, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
	if err := confine.HandOver(path, s.user); err != nil {
		s.t.Fatal(err)
	}
}

// notJudged is what is said of a layer that the judge was not done with in its time.
const notJudged = "what the program changed could not be judged and written in the time for that; nothing of it was kept"

// TestOverlayApplies: what a program that ended by itself wrote, and nothing of
// what one was cut off from, was refused, or must not write.
func TestOverlayApplies(t *testing.T) {
	s, kept := newSite(t, confine.Namespaces), map[string]string{"old": "old"}
	brief := func(s *confine.Spec) { s.Limits.Wall, s.Overlay.Time = time.Second, 400*time.Millisecond }
	tests := []struct {
		name, script string
		change       func(*confine.Spec)
		exit         int
		bound        confine.Bound
		applied      confine.Applied
		said         string // by the judge: its report, or why it refused
		after        map[string]string
	}{
		{"write", "printf 1 > new; printf 2 >> old; test $(cat old) = old2", nil, 0, "", confine.WasApplied, "new old ", map[string]string{"new": "1", "old": "old2"}},
		{"nothing", "test $(cat old) = old", nil, 0, "", confine.WasApplied, "", kept},
		{"failing exit", "printf 1 > new; exit 3", nil, 3, "", confine.WasApplied, "new ", map[string]string{"new": "1", "old": "old"}},
		{"refused", "printf 1 > new; : > bad", nil, 0, "", confine.NotApplied, "bad under a law", kept},
		{"without a law", "printf 1 > new", func(s *confine.Spec) { s.Overlay.Law = nil }, 0, "", confine.NotApplied, "", kept},
		{"breaks off", "printf 1 > a; : > broken; : > c", nil, 0, "", confine.MaybeApplied, "", map[string]string{"a": "1", "broken": "", "old": "old"}},
		{"killed", "printf 1 > new; kill -9 $$", nil, -1, confine.Died, confine.NotApplied, "", kept},
		{"ends by itself, and is judged beyond its deadline", "printf 1 > new; : > thinks; sleep 0.6; exit 3", func(s *confine.Spec) { s.Limits.Wall = 1200 * time.Millisecond },
			3, "", confine.WasApplied, "new thinks ", map[string]string{"new": "1", "old": "old", "thinks": ""}},
		{"is not judged in its time", "printf 1 > new; : > late; exit 3", brief, 3, "", confine.NotApplied, notJudged, kept},
		{"is not judged, and the judge does not heed it", "printf 1 > new; : > deaf; exit 3", brief, 3, "", confine.NotApplied, notJudged, kept},
		{"is not judged, and the judge dies", "printf 1 > new; : > dies; exit 3", nil, 3, "", confine.NotApplied, notJudged, kept},
		{"deadline", "printf 1 > new; while :; do :; done", func(s *confine.Spec) { s.Limits.Wall = 2 * time.Second },
			-1, confine.WallBound, confine.NotApplied, "", kept},
		{"output", "printf 1 > new; while :; do echo flood; done", nil, -1, confine.OutputBound, confine.NotApplied, "", kept},
		{"file size", "printf 1 > new; exec head -c 99999 /dev/zero > big", func(s *confine.Spec) { s.Limits.FileSize = 1 << 16 },
			-1, confine.SizeBound, confine.NotApplied, "", kept},
		{"memory refused", "printf 1 > new; exec python3 -c 'a = []\nwhile True: a.append(bytearray(1 << 20))'", nil,
			1, "", confine.WasApplied, "new ", map[string]string{"new": "1", "old": "old"}},
		{"memory used", `printf 1 > new; exec python3 -c 'a = b"x" * (230 << 20); exit(1)'`, nil, 1, "", confine.WasApplied, "new ", map[string]string{"new": "1", "old": "old"}},
		{"memory", `printf 1 > new; exec python3 -c 'import os; a = b"x" * (230 << 20); os.abort()'`, nil, -1, confine.MemoryBound, confine.NotApplied, "", kept},
		{"memory of a child", `printf 1 > new; python3 -c 'import os; a = b"x" * (230 << 20); os.abort()'; exit $?`, nil, 134, confine.MemoryBound, confine.NotApplied, "", kept},
		{"aborts", `printf 1 > new; exec python3 -c 'import os; os.abort()'`, nil, -1, confine.Died, confine.NotApplied, "", kept},
		{"warns itself", "printf 1 > new; kill -XCPU $$", nil, -1, confine.Died, confine.NotApplied, "", kept},
		{"signals the first", "printf 1 > new; i=1; while [ $i -le 64 ]; do kill -$i 1; i=$((i+1)); done 2>/dev/null; sleep 0.2; exit 0", nil,
			0, "", confine.WasApplied, "new ", map[string]string{"new": "1", "old": "old"}},
		{"closes the top", "printf 1 > new; chmod 0 .", nil, 0, "", confine.WasApplied, "new ", map[string]string{"new": "1", "old": "old"}},
		{"forged", `printf 1 > new; for fd in 3 4 5 6 7 8 9; do echo '{"Applied":"unknown","Bound":"memory"}' >&$fd; done 2>/dev/null; exit 0`, nil,
			0, "", confine.WasApplied, "new ", map[string]string{"new": "1", "old": "old"}},
		{"space", "head -c 2000000 /dev/zero > new; exit 0", func(s *confine.Spec) { s.Limits.FileSize = 1 << 30 },
			0, confine.SpaceBound, confine.NotApplied, "", kept},
		{"files", "i=0; while [ $i -lt 99 ]; do : > f$i; i=$((i+1)); done", nil, 2, confine.FilesBound, confine.NotApplied, "", kept},
		{"left behind", "(i=0; while :; do i=$((i+1)); echo $i > counter; done) & : > slow; sleep 0.1", nil,
			0, "", confine.WasApplied, "counter slow ", map[string]string{"counter": "*", "slow": "", "old": "old"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := s
			s.t, s.worktree = t, s.another(test.name)
			s.put("old", "old")
			spec := s.over(test.script)
			if test.change != nil {
				test.change(&spec)
			}
			got := s.run(spec)
			if got.Unjudged != (test.said == notJudged) {
				t.Errorf("unjudged: %t", got.Unjudged)
			}
			if got.Exit != test.exit || got.Bound != test.bound || got.Applied != test.applied || got.Refused+string(got.Changes) != test.said {
				t.Errorf("exit %d %q, applied %q, %q %q; %s", got.Exit, got.Bound, got.Applied, got.Refused, got.Changes, got.Stderr)
			}
			s.holds(test.after)
		})
	}
}

// TestOverlayAsked: a run that is ended as its layer is being applied comes to its
// end, and one that is ended before changes nothing.
func TestOverlayAsked(t *testing.T) {
	for _, test := range []struct {
		name, script string
		applied      confine.Applied
		after        map[string]string
	}{
		{"as it is applied", "printf 1 > new; : > slow", confine.WasApplied, map[string]string{"new": "1", "slow": ""}},
		{"as it is judged", "printf 1 > new; : > late", confine.NotApplied, nil},
		{"before", "printf 1 > new; sleep 9", confine.NotApplied, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, confine.Namespaces)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			spec := s.over(test.script)
			ended := make(chan confine.Result, 1)
			go func() {
				got, err := s.jail.Run(ctx, spec)
				if err != nil {
					t.Error(err)
				}
				ended <- got
			}()
			switch test.name {
			case "as it is judged":
				eventually(t, "judging", func() bool { _, err := os.Lstat(filepath.Join(s.worktree, "prepared")); return err == nil })
			case "as it is applied": // "new" is applied before "slow", which takes its time
				eventually(t, "applying", func() bool { return size(filepath.Join(s.worktree, "new")) == 1 })
			default:
				eventually(t, "it runs", func() bool { return processes(t, s.worktree) > 1 })
			}
			cancel()
			if got := <-ended; got.Applied != test.applied || got.Bound != confine.CallerBound || got.Elapsed > 5*time.Second {
				t.Errorf("applied %q, ended %q after %s, %q", got.Applied, got.Bound, got.Elapsed, got.Stderr)
			}
			s.holds(test.after)
		})
	}
}

// TestKillDaemonOverLayer: a program whose daemon is killed has changed nothing.
func TestKillDaemonOverLayer(t *testing.T) {
	s := newSite(t, confine.Namespaces)
	cmd, _ := s.daemon(confine.Namespaces, "overlay")
	eventually(t, "it runs", func() bool { return processes(t, filepath.Join(s.worktree, "ticks")) > 0 })
	cmd.Process.Kill()
	cmd.Wait()
	eventually(t, "the tree is gone", func() bool { return processes(t, s.worktree) == 0 })
	s.holds(nil)
}
