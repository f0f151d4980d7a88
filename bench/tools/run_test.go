package tools

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// plainBubblewrap returns a caller that runs the same program as somebody would who
// fences it by hand: bubblewrap with namespaces of its own, a read-only system, the
// worktree, and nothing journaled.
func plainBubblewrap(tb testing.TB, worktree string, program ...string) caller {
	tb.Helper()
	args := append([]string{
		"--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp",
		"--bind", worktree, worktree, "--chdir", worktree, "--clearenv", "--",
	}, program...)
	return func(ctx context.Context) error {
		if out, err := exec.CommandContext(ctx, "/usr/bin/bwrap", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("bwrap: %w: %s", err, out)
		}
		return nil
	}
}

// pace is how far apart the turns of two begin that take turns: what the daemon makes
// ready for its next call is made by then, and on nobody's account.
const pace = 150 * time.Millisecond

// BenchmarkRun runs an empty program b.N times through ailang-run, a whole round trip
// with everything that it records, in turns with plain bubblewrap on the same
// interpreter and the same program.
func BenchmarkRun(b *testing.B) {
	s := serve(b)
	worktree := s.world.Worktree("bench")
	plain := b.TempDir() // bubblewrap run by hand has no user of the episode's
	for _, name := range []string{"empty.py", "empty.star"} {
		for _, dir := range []string{worktree, plain} {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	rules := filepath.Join(b.TempDir(), "policy.toml")
	text := fmt.Sprintf("allowed_caps = [\"IO\", \"FS\"]\nfs_sandbox = %q\n", plain)
	if err := os.WriteFile(rules, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
	// A private /tmp would hide them.
	tool, policy := filepath.Join(plain, "world-tool"), filepath.Join(plain, "policy.toml")
	for from, to := range map[string]string{filepath.Join(s.world.Bin, "world-tool"): tool, rules: policy} {
		if out, err := exec.Command("cp", from, to).CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	for name, program := range map[string][]string{
		"empty.py":   {"/usr/bin/python3", "empty.py"},
		"empty.star": {tool, "run", "--policy", policy, "empty.star"},
	} {
		b.Run(name, func(b *testing.B) {
			ours := s.agent(b, "ailang-run", map[string]any{"path": name}, `"exit_code":0`)
			theirs := plainBubblewrap(b, plain, program...)
			measure(b, 3, ours)
			measure(b, 3, theirs)
			b.ResetTimer()
			var world, least []time.Duration
			turn := time.NewTicker(pace)
			defer turn.Stop()
			for range b.N { // in turns, so that whatever else the machine does meets both
				<-turn.C
				world = append(world, measure(b, 1, ours)...)
				<-turn.C
				least = append(least, measure(b, 1, theirs)...)
			}
			if b.Failed() {
				return
			}
			slices.Sort(world)
			slices.Sort(least)
			b.ReportMetric(quantile(world, 0.5), "world-p50-ms")
			b.ReportMetric(quantile(world, 0.99), "world-p99-ms")
			b.ReportMetric(quantile(least, 0.5), "bwrap-p50-ms")
			b.ReportMetric(quantile(world, 0.5)/quantile(least, 0.5), "times-bwrap")
		})
	}
}
