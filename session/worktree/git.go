package worktree

import (
	"bytes"
	"context"
	"os/exec"
	"slices"
	"strings"
	"time"

	"world/fault"
)

// patience bounds one run of git, in wall time.
const patience = 2 * time.Minute

// environment is what git sees of the world, wherever it runs.
var environment = []string{
	"PATH=/usr/local/bin:/usr/bin:/bin",
	"HOME=/nonexistent",
	"LC_ALL=C",
	"GIT_CONFIG_NOSYSTEM=1",
	"GIT_CONFIG_GLOBAL=/dev/null",
	"GIT_ATTR_NOSYSTEM=1",
	"GIT_TERMINAL_PROMPT=0",
	"GIT_ALLOW_PROTOCOL=", // no transport: a missing object is an error, not a fetch
	"GIT_NO_LAZY_FETCH=1",
	"GIT_NO_REPLACE_OBJECTS=1",
}

// tool runs git with everything switched off that a repository could switch on.
type tool struct {
	repository string   // real path
	env        []string // beside the fixed ones
}

// run runs one git command and returns what it printed.
func (g tool) run(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	fixed := []string{
		"-c", "safe.directory=" + g.repository,
		"-c", "core.hooksPath=/dev/null",
		"-c", "core.fsmonitor=false",
		"-c", "core.attributesFile=/dev/null",
		"-c", "submodule.recurse=false",
		"-c", "gc.auto=0",
		"-c", "maintenance.auto=false",
		"-c", "worktree.useRelativePaths=false",
	}
	cmd := exec.CommandContext(ctx, "git", append(fixed, args...)...)
	cmd.Dir = "/"
	cmd.Env = slices.Concat(environment, g.env)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		kind := fault.Failed
		if ctx.Err() != nil {
			kind = fault.Timeout
		}
		return "", fault.Wrap("worktree: git", kind, err, "git refused: %s", reason(stderr.String()))
	}
	return stdout.String(), nil
}

// reason shortens what git said to the line that says why. The reader is the
// operator, who named the paths in it.
func reason(stderr string) string {
	last := "no reason given"
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(line, "fatal: "); ok {
			return printable(text)
		}
		if line != "" {
			last = line
		}
	}
	return printable(last)
}

// printable keeps a repository from writing escape sequences to a terminal.
func printable(s string) string {
	const most = 300
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, s[:min(len(s), most)])
}
