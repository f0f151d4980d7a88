package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"world/confine"
	"world/confine/confinetest"
)

// TestDoctor: what is missing is named with its remedy and leaves its mark in the
// exit code, at each level.
func TestDoctor(t *testing.T) {
	open, closed := confinetest.Dir(t), filepath.Join(confinetest.Dir(t), "closed")
	if err := os.Mkdir(closed, 0o000); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		flags doctorFlags
		code  int
		says  []string
	}{
		{"all there", doctorFlags{floor: "namespaces", workspaces: open}, exitDone,
			[]string{"✓ pure functions", "✓ file operations", "✓ programs", "✓ workspace root", "✓ level namespaces", "✓ private layer", "✓ bound on all memory"}},
		{"no namespaces", doctorFlags{floor: "landlock", ceiling: confine.Landlock}, exitRefused,
			[]string{"✓ pure functions", "✓ file operations", "✗ programs", "this machine reaches landlock", "✓ level landlock"}},
		{"no fence", doctorFlags{floor: "landlock", ceiling: confine.Process}, exitRefused,
			[]string{"✗ pure functions", "✗ file operations", "✗ programs"}},
		{"no fence, and content", doctorFlags{floor: "process", ceiling: confine.Process}, exitRefused,
			[]string{"✓ pure functions", "✓ file operations", "✗ programs                      needs level namespaces"}},
		{"closed worktrees", doctorFlags{floor: "landlock", workspaces: filepath.Join(closed, "ws")}, exitRefused, []string{"✓ programs", "✗ workspace root", "o+x"}},
		{"no such floor", doctorFlags{floor: "docker"}, exitRefused, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			err := doctor(context.Background(), test.flags, worldTool, &out)
			code := exitDone
			if err != nil {
				code = exitCode(err)
			}
			if code != test.code {
				t.Errorf("exit code %d (%v)\n%s", code, err, &out)
			}
			for _, text := range test.says {
				if !strings.Contains(out.String(), text) {
					t.Errorf("it does not say %q:\n%s", text, &out)
				}
			}
			if strings.Contains(out.String(), closed) || strings.Contains(out.String(), "got through") {
				t.Errorf("%s", &out)
			}
		})
	}
	if err := doctor(context.Background(), doctorFlags{floor: "landlock"}, filepath.Join(open, "none"), &strings.Builder{}); err == nil || exitCode(err) != exitStore {
		t.Errorf("without world-tool: %v", err)
	}
}
