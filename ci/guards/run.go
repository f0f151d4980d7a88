package guards

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"world/confine/confinetest"
)

// Run runs tests that were built into a folder, by a pattern of their names, as this
// process's user or as an ordinary one, which takes root. It returns their acts.
func Run(built, tests string, ordinary bool) ([]Act, error) {
	cmd := exec.Command(filepath.Join(built, "fence"), "-test.v=test2json", "-test.timeout=10m", "-test.run="+tests)
	if ordinary {
		if err := confinetest.Ordinary(cmd, built); err != nil {
			return nil, err
		}
	} else {
		temporary, err := os.MkdirTemp(built, "tmp-")
		if err != nil {
			return nil, err
		}
		if err := os.Chmod(temporary, 0o711); err != nil {
			return nil, err
		}
		cmd.Dir, cmd.Env = temporary, append(os.Environ(), "TMPDIR="+temporary, confinetest.ImagesVariable+"="+built)
	}
	out, err := cmd.CombinedOutput()
	if _, failed := err.(*exec.ExitError); err != nil && !failed {
		return nil, err
	}
	read := exec.Command("go", "tool", "test2json")
	read.Stdin = bytes.NewReader(out)
	events, err := read.Output()
	if err != nil {
		return nil, fmt.Errorf("test2json: %w", err)
	}
	acts, err := Read(bytes.NewReader(events))
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	return acts, nil
}
