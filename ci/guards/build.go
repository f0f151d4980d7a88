package guards

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// Build builds the programs and the tests of ci/fence from a repository into a
// folder, as they are without a removal's guard. The repository is only read: the
// compiler is shown other text in the place of its files. The tests are the file
// "fence" of the folder.
func (r Removal) Build(root, into string) error {
	files, err := r.Apply(root)
	if err != nil {
		return err
	}
	replace := map[string]string{}
	aside := into + ".edited"
	if err := os.MkdirAll(aside, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(aside)
	for name, text := range files {
		to := filepath.Join(aside, strconv.Itoa(len(replace))+filepath.Ext(name))
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			return err
		}
		replace[filepath.Join(root, name)] = to
	}
	overlay := filepath.Join(aside, "overlay.json")
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err = errors.Join(err, os.WriteFile(overlay, raw, 0o644)); err != nil {
		return err
	}
	// What debuggers read is left out, which makes half of the linker's work.
	flags := []string{"-overlay", overlay, "-trimpath", "-ldflags=-w", "-o"}
	for _, args := range [][]string{
		slices.Concat([]string{"build"}, flags, []string{into + "/"}, Programs),
		slices.Concat([]string{"test", "-c"}, flags, []string{filepath.Join(into, "fence"), "world/ci/fence"}),
	} {
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go %s: %w\n%s", args[0], err, out)
		}
	}
	return nil
}
