// Command demo plays one whole story on the real binaries and real files: an
// agent is granted, served, denied, killed, restarted, replayed and audited. It
// prints what was asked, decided and recorded at each step, and exits non-zero
// at the first step that is not as it should be.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: demo FOLDER-OF-BINARIES")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	err := run(ctx, os.Args[1])
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "\ndemo: this step is not as it should be:", err)
		os.Exit(1)
	}
}

// run plays the story in a folder that it removes again.
func run(ctx context.Context, bin string) error {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "world-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// The jail runs under other uids, which must reach their worktrees.
	if err := os.Chmod(dir, 0o711); err != nil {
		return err
	}
	started := time.Now()
	s, err := newStory(bin, dir)
	if err != nil {
		return err
	}
	defer s.world.Close()
	for i, step := range s.steps() {
		fmt.Printf("\n%d. %s\n", i+1, step.title)
		if err := step.play(ctx); err != nil {
			return err
		}
	}
	fmt.Printf("\nThe whole story took %.1f s.\n", time.Since(started).Seconds())
	return nil
}
