package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"world/coordinator/capsule"
	"world/fault"
)

// manifest writes a manifest of one transition whose program has this name, and
// returns its path.
func manifest(t *testing.T, source string) string {
	t.Helper()
	raw, err := json.Marshal([]map[string]any{{
		"id": "one", "title": "One", "description": "One.", "transitionFnFile": source,
		"inputSchema": map[string]any{}, "outputSchema": map[string]any{},
		"access": map[string]any{"effect": "A", "scope": "b", "cost": 1}, "declaredEffects": []any{},
	}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "manifest.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadManifest(t *testing.T) {
	path := manifest(t, "one.star")
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "one.star"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readManifest(path)
	if err != nil || len(got) != 1 || got[0].ID != "one" || string(got[0].Source) != "text" {
		t.Errorf("%+v, %v", got, err)
	}
}

// Neither a manifest nor a program is waited for, or read without bound.
func TestManifestsAndProgramsAreFiles(t *testing.T) {
	dir := t.TempDir()
	pipe, large := filepath.Join(dir, "pipe"), filepath.Join(dir, "large")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, bytes := range map[string]int{large: maxManifest + 1, large + ".star": capsule.MaxSource + 1} {
		if err := os.WriteFile(path, []byte(strings.Repeat(" ", bytes)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	of := func(program string) string {
		path := manifest(t, "program")
		if err := os.Symlink(program, filepath.Join(filepath.Dir(path), "program")); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, row := range map[string]struct{ path, says string }{
		"a pipe":                     {pipe, `pipe" is not a regular file`},
		"a device":                   {"/dev/zero", "is not a regular file"},
		"a folder":                   {dir, "is not a regular file"},
		"nothing":                    {filepath.Join(dir, "none"), `none" cannot be read`},
		"a large manifest":           {large, "has more than 4194304 bytes"},
		"a pipe as program":          {of(pipe), `transition 0: invalid: transitionFnFile: `},
		"a device as program":        {of("/dev/zero"), `program" is not a regular file`},
		"a large program":            {of(large + ".star"), "has more than 1048576 bytes"},
		"a program that is nowhere":  {manifest(t, "none.star"), `none.star" cannot be read`},
		"a name that holds NUL byte": {manifest(t, "no\x00ne"), "holds a NUL byte"},
	} {
		_, err := readManifest(row.path)
		if !fault.Is(err, fault.Invalid) || !strings.Contains(fault.Public(err), row.says) || strings.ContainsAny(fault.Public(err), "\n\x00") {
			t.Errorf("%s: %v, want %q", name, err, row.says)
		}
	}
}
