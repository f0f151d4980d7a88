package confine

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// overlayProbeVerb writes into a file of the worktree and reads it back.
const overlayProbeVerb = "probe-overlay"

// canaryText is what the probe's file holds before and after.
const canaryText = "untouched"

func overlayProbe(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	if err := os.WriteFile("canary", []byte("written"), 0o644); err != nil {
		fmt.Fprint(stderr, err)
		return 1
	}
	b, err := os.ReadFile("canary")
	fmt.Fprintf(stdout, "%s", b)
	if err != nil {
		return 1
	}
	return 0
}

// attackThroughOverlay lets a program write to a file of a worktree over a private
// layer, where it must get through, and looks whether the worktree is as it was. It
// returns why no program may run over a layer here, "" when it may.
func (j *Jail) attackThroughOverlay(t target) string {
	canary := filepath.Join(t.worktree, "canary")
	result, err := j.runAt(context.Background(), Namespaces, Spec{
		Program: j.stage, Args: []string{overlayProbeVerb}, Worktree: t.worktree, User: t.user, Limits: probeLimits,
		Overlay: &Overlay{Bytes: 1 << 20, Files: 16, Time: probeLimits.Wall / 2},
	})
	switch now, readErr := os.ReadFile(canary); {
	case err != nil:
		return causeOf(err)
	case result.Bound != Unbounded || string(result.Stdout) != "written":
		return fmt.Sprintf("a write in it failed: %s %s", result.Bound, strings.TrimSpace(string(result.Stderr)))
	case readErr != nil || string(now) != canaryText:
		return "a write in it reached the worktree"
	}
	return ""
}
