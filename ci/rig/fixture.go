package rig

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:embed fixture
var fixture embed.FS

// PublishFixture publishes the transition fixture-reach at a terminal of its
// own. No daemon may serve the store meanwhile.
func (w *World) PublishFixture(ctx context.Context) (Result, error) {
	if err := os.CopyFS(w.Dir, fixture); err != nil {
		return Result{}, err
	}
	manifest := filepath.Join(w.Dir, "fixture", "manifest.json")
	phrase := fmt.Sprintf("publish 1 transitions to %s", w.DB())
	result, shown, err := w.Attended(ctx, "to go on", phrase, "world-publish", "transitions", "--db", w.DB(), "--manifest", manifest)
	if err == nil && result.Code != 0 {
		err = fmt.Errorf("world-publish: exit %d: %s %s", result.Code, oneLine(result.Stderr), oneLine(shown))
	}
	result.Stdout = strings.TrimSpace(result.Stdout)
	return result, err
}
