package mutate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"world/fault"
)

// maxOutput is how much is kept of what the tests of a mutant print, in bytes.
const maxOutput = 64 << 10

// testBench builds and runs the tests of one package with one file replaced.
type testBench struct {
	path    string        // import path
	dir     string        // of the package
	root    string        // of the module
	limit   time.Duration // of one run; tests that take longer do not end
	scratch string
}

func newTestBench(ctx context.Context, dir, path string, limit time.Duration) (*testBench, error) {
	const op = "mutate: tests"
	list := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}\n{{.Module.Dir}}", path)
	list.Dir = dir
	out, err := list.Output()
	if err != nil {
		return nil, fault.Wrap(op, fault.Unavailable, err, "go list does not find %s", path)
	}
	found := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(found) != 2 {
		return nil, fault.New(op, fault.Invalid, "%s is not one package of a module", path)
	}
	scratch, err := os.MkdirTemp("", "world-law-mutants-")
	if err != nil {
		return nil, fault.Wrap(op, fault.Unavailable, err, "no scratch directory")
	}
	return &testBench{path: path, dir: found[0], root: found[1], limit: limit, scratch: scratch}, nil
}

func (b *testBench) close() { os.RemoveAll(b.scratch) }

// passes checks that the tests pass while nothing is changed: tests that fail
// anyway would kill every mutant.
func (b *testBench) passes(ctx context.Context, program string) error {
	killer, err := b.run(ctx, program, 0)
	if err == nil && killer != "" {
		err = fault.New("mutate: tests", fault.Failed, "%s of %s fails without any change", killer, b.path)
	}
	return err
}

// killedBy builds a mutant by itself and returns the test that kills it, "" if none does.
func (b *testBench) killedBy(ctx context.Context, name string, m Mutant) (string, error) {
	program, err := b.build(ctx, name, map[string][]byte{m.File: m.Text})
	if err != nil {
		return "", fault.Wrap("mutate: tests", fault.KindOf(err), err, "%s: %s", m, fault.Detail(err))
	}
	defer os.Remove(program)
	return b.run(ctx, program, 0)
}

// build builds the tests with these files, by slash path relative to the module
// root, in the place of what is there. What the type checker has accepted builds;
// if it does not, nothing is known about the mutant.
func (b *testBench) build(ctx context.Context, name string, files map[string][]byte) (program string, err error) {
	const op = "mutate: tests"
	replace := map[string]string{}
	for file, text := range files {
		path := filepath.Join(b.scratch, fmt.Sprintf("%s-%d.go", name, len(replace)))
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return "", fault.Wrap(op, fault.Unavailable, err, "the text of a mutant")
		}
		defer os.Remove(path)
		replace[filepath.Join(b.root, filepath.FromSlash(file))] = path
	}
	overlay := filepath.Join(b.scratch, name+".json")
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err == nil {
		err = os.WriteFile(overlay, text, 0o600)
	}
	if err != nil {
		return "", fault.Wrap(op, fault.Unavailable, err, "the overlay of a mutant")
	}
	defer os.Remove(overlay)
	program = filepath.Join(b.scratch, name+".test")
	build := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", program, b.path)
	build.Dir = b.dir
	if out, err := build.CombinedOutput(); err != nil {
		return "", fault.Wrap(op, fault.Failed, fmt.Errorf("%w: %.400s", err, out), "the tests of %s do not build", b.path)
	}
	return program, nil
}

var failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)

// run runs a test program, woven ones as that mutant, and returns the first test
// that failed.
func (b *testBench) run(ctx context.Context, program string, mutant int) (string, error) {
	const op = "mutate: tests"
	hard, stop := context.WithTimeout(ctx, 2*b.limit)
	defer stop()
	tests := exec.CommandContext(hard, program, "-test.failfast", fmt.Sprint("-test.timeout=", b.limit))
	tests.Dir, tests.WaitDelay = b.dir, time.Second
	tests.Env = append(os.Environ(), fmt.Sprint(chooser, "=", mutant))
	var out head
	tests.Stdout, tests.Stderr = &out, &out
	err := tests.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "", nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case hard.Err() == nil && !errors.As(err, &exit):
		return "", fault.Wrap(op, fault.Unavailable, err, "the tests of %s do not start", b.path)
	case hard.Err() != nil || bytes.Contains(out.Bytes(), []byte("panic: test timed out")):
		return "its time limit", nil
	}
	if name := failedTest.FindSubmatch(out.Bytes()); name != nil {
		return string(name[1]), nil
	}
	return "its end without a verdict", nil
}

// head keeps the first bytes written to it.
type head struct{ bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	h.Buffer.Write(p[:min(len(p), max(0, maxOutput-h.Len()))])
	return len(p), nil
}
