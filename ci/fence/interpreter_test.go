package fence

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"world/ci/guards"
)

// acted is a manifest of one transition, its source, and an interpreter of it.
//
//go:embed testdata
var acted embed.FS

// TestInterpreter: a transition may pin an interpreter that is not ours. It runs in
// the capsule once it has refused what it was given no capability for; one that grants
// anything is refused at start when the operator names it, and its transitions fail.
func TestInterpreter(t *testing.T) {
	t.Parallel()
	honest, err := acted.ReadFile("testdata/interpreter.py")
	if err != nil {
		t.Fatal(err)
	}
	lying := strings.Replace(string(honest), "granted = ()", `granted = ("Env",)`, 1)
	for _, test := range []struct {
		name, program string
		starts        bool
		says          string
	}{
		{"honest", string(honest), true, `"said":{"word":"hello"}`},
		{"lying", lying, false, "did not refuse a program that needs Env"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if !test.starts {
				guards.Interpreters.Stops(t)
			}
			d := newDesk(t)
			file := filepath.Join(d.world.Dir, "interpreter")
			d.must(os.WriteFile(file, []byte(test.program), 0o755), os.CopyFS(d.world.Dir, acted))
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if _, err := d.world.Daemon.Stop(); err != nil {
				t.Fatal(err)
			}
			result, shown, err := d.world.Attended(ctx, "to go on", fmt.Sprintf("publish 1 transitions to %s", d.world.DB()), "world-publish", "transitions",
				"--db", d.world.DB(), "--manifest", filepath.Join(d.world.Dir, "testdata", "manifest.json"), "--ailang-bin", file)
			if err != nil || result.Code != 0 {
				t.Fatalf("publish: exit %d, %v: %s %s", result.Code, err, result.Stderr, shown)
			}
			_, err = d.world.Serve(ctx, "--ailang-bin", file)
			switch {
			case err == nil && !test.starts:
				guards.Interpreters.LetThrough(t, "serve --ailang-bin starts")
			case err != nil && (test.starts || !strings.Contains(err.Error(), test.says)):
				t.Fatalf("serve --ailang-bin: %v", err)
			}
			if err != nil {
				if _, err = d.world.Serve(ctx); err != nil { // unnamed, its transition is what fails
					t.Fatal(err)
				}
			}
			d.connect(ctx)
			if answer := d.call("acted-say", map[string]any{"word": "hello"}); !strings.Contains(answer, test.says) && test.starts {
				t.Errorf("control: %s", answer)
			} else if !strings.Contains(answer, test.says) {
				guards.Interpreters.LetThrough(t, answer)
			}
			if answer := d.call("ailang-read", map[string]any{"path": "greeting.txt"}); !strings.Contains(answer, "hello, world") {
				t.Errorf("control: %s", answer)
			}
		})
	}
}
