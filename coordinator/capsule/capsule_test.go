package capsule_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"world/confine"
	"world/confine/confinetest"
	"world/coordinator/capsule"
	"world/fault"
	"world/store"
)

// objects is the part of a store that an archive reads.
type objects struct {
	store.Reader
	held  map[store.Ref]store.Object
	reads int
}

func (o *objects) Object(_ context.Context, ref store.Ref) (store.Object, error) {
	o.reads++
	object, ok := o.held[ref]
	if !ok {
		return store.Object{}, fault.New("test", fault.NotFound, "no object")
	}
	return object, nil
}

// setup returns a store that holds world-tool as an interpreter, and an archive.
func setup(t testing.TB) (*objects, string, *capsule.Archive) {
	t.Helper()
	program, err := io.ReadAll(confinetest.Image(t, confinetest.WorldTool).Reader())
	if err != nil {
		t.Fatal(err)
	}
	object := store.NewObject("world/interpreter/v1", "test", program)
	held := &objects{held: map[store.Ref]store.Object{object.Ref(): object}}
	dir := filepath.Join(t.TempDir(), "archive")
	archive, err := capsule.OpenArchive(dir, held, unhealed(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { archive.Close() })
	return held, dir, archive
}

// unhealed is for an archive in which nothing is damaged.
func unhealed(t testing.TB) func(store.Ref, error) {
	return func(ref store.Ref, was error) { t.Errorf("%s was written anew: %v", ref, was) }
}

func interpreter(t testing.TB) store.Ref {
	return confinetest.Image(t, confinetest.WorldTool).Ref
}

func TestRun(t *testing.T) {
	tests := []struct {
		name, source string
		kind         fault.Kind
	}{
		{"convention", "def main(): return ''", fault.Invalid},
		{"failure", "def main(a): fail('the secret of the program')", fault.Failed},
		{"steps", "def main(a):\n  for i in range(1 << 50): pass\n  return a", fault.Limit},
		{"memory", "def main(a):\n  x = []\n  for i in range(1 << 20): x.append('x' * (1 << 20))\n  return a", fault.Limit},
		{"one large text", "def main(a): return str(len('x' * (1 << 29)))", fault.Limit},
		{"output", "def main(a): return 'x' * (5 << 20)", fault.Limit},
	}
	for _, level := range []confine.Level{confine.Namespaces, confine.Landlock} {
		_, _, archive := setup(t)
		runner := capsule.New(capsule.Options{Jail: confinetest.Jail(t, level), Archive: archive})
		run := func(source, input string) ([]byte, error) {
			return runner.Run(context.Background(), capsule.Program{Interpreter: interpreter(t), Source: []byte(source)}, []byte(input))
		}
		if got, err := run("def main(a): return a + '!'", "hello"); err != nil || string(got) != "hello!" {
			t.Errorf("%s: %q, %v", level, got, err)
		}
		for _, test := range tests {
			got, err := run(test.source, "")
			if !fault.Is(err, test.kind) || got != nil {
				t.Errorf("%s %s: %q, %v", level, test.name, got, err)
			}
			if public := fault.Public(err); strings.Contains(public, "secret") || strings.Contains(public, "goroutine") {
				t.Errorf("%s %s: the agent is told %q", level, test.name, public)
			}
		}
		large := strings.Repeat("x", capsule.MaxOutput)
		if got, err := run("def main(a): return a", large); err != nil || string(got) != large {
			t.Errorf("%s: %d bytes, %v", level, len(got), err)
		}
		if _, err := run("def main(a): return a", large+"x"); !fault.Is(err, fault.Limit) {
			t.Errorf("%s: an input that is too large: %v", level, err)
		}
	}
}

func TestRunDeadline(t *testing.T) {
	_, _, archive := setup(t)
	runner := capsule.New(capsule.Options{Jail: confinetest.Jail(t, confine.Namespaces), Archive: archive})
	slow := capsule.Program{Interpreter: interpreter(t), Source: []byte("def main(a):\n  for i in range(1 << 20): sorted(range(100000))\n  return a")}
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	began := time.Now()
	if got, err := runner.Run(ctx, slow, nil); !fault.Is(err, fault.Limit) {
		t.Errorf("%q, %v", got, err)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("a deadline of half a second took %s", took)
	}
	ctx, cancel = context.WithCancel(context.Background())
	cancel()
	if _, err := runner.Run(ctx, slow, nil); !fault.Is(err, fault.Timeout) {
		t.Errorf("a cancelled run: %v", err)
	}
}

// TestRunFloor: below its floor nothing runs.
func TestRunFloor(t *testing.T) {
	_, _, archive := setup(t)
	jail := confinetest.Jail(t, confine.Process)
	program := capsule.Program{Interpreter: interpreter(t), Source: []byte("def main(a): return a")}
	if _, err := capsule.New(capsule.Options{Jail: jail, Archive: archive}).Run(context.Background(), program, nil); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v", err)
	}
	moved := capsule.New(capsule.Options{Jail: jail, Archive: archive, Floor: confine.Process})
	if _, err := moved.Run(context.Background(), program, nil); err != nil {
		t.Errorf("with the floor moved: %v", err)
	}
}

// TestRunOldInterpreter runs an interpreter that is not the jail's first stage, as
// replay does after an upgrade.
func TestRunOldInterpreter(t *testing.T) {
	held, _, archive := setup(t)
	old := store.NewObject("world/interpreter/v1", "test", append(bytes.Clone(held.held[interpreter(t)].Bytes()), "older"...))
	held.held[old.Ref()] = old
	for _, level := range []confine.Level{confine.Namespaces, confine.Landlock} {
		runner := capsule.New(capsule.Options{Jail: confinetest.Jail(t, level), Archive: archive})
		run := func(source string) ([]byte, error) {
			return runner.Run(context.Background(), capsule.Program{Interpreter: old.Ref(), Source: []byte(source)}, []byte("in"))
		}
		if got, err := run("def main(a): return a"); err != nil || string(got) != "in" {
			t.Errorf("%s: %q, %v", level, got, err)
		}
		if _, err := run("def main(a): return 1"); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: convention: %v", level, err)
		}
		// Piece by piece: below namespaces a single one may pass the bound on a program's memory.
		if got, err := run("def main(a):\n  x = []\n  for i in range(1 << 20): x.append('x' * (1 << 20))\n  return a"); !fault.Is(err, fault.Limit) {
			t.Errorf("%s: memory: %q, %v", level, got, err)
		}
	}
}

func TestArchive(t *testing.T) {
	held, dir, archive := setup(t)
	ref := interpreter(t)
	for range 2 {
		if image, err := archive.Image(context.Background(), ref); err != nil || image.Ref != ref {
			t.Fatalf("%v", err)
		}
	}
	if held.reads != 1 {
		t.Errorf("the store was read %d times", held.reads)
	}
	file := filepath.Join(dir, strings.TrimPrefix(string(ref), "sha256:"))
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o444 {
		t.Errorf("%v, %v", info, err)
	}
	// Another process finds the file and does not need the store.
	clear(held.held)
	second, err := capsule.OpenArchive(dir, held, unhealed(t))
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if _, err := second.Image(context.Background(), ref); err != nil {
		t.Error(err)
	}
	absent := store.RefOf([]byte("absent"))
	if _, err := second.Image(context.Background(), absent); !fault.Is(err, fault.Unavailable) {
		t.Errorf("an absent interpreter: %v", err)
	}
	if _, err := second.Image(context.Background(), "../../etc/passwd"); !fault.Is(err, fault.Corrupt) {
		t.Errorf("no ref at all: %v", err)
	}
}

// TestArchiveSwapped: what was sealed runs on, and what was swapped does not run.
func TestArchiveSwapped(t *testing.T) {
	held, dir, archive := setup(t)
	ref := interpreter(t)
	program := capsule.Program{Interpreter: ref, Source: []byte("def main(a): return a")}
	jail := confinetest.Jail(t, confine.Namespaces)
	run := func(a *capsule.Archive) error {
		_, err := capsule.New(capsule.Options{Jail: jail, Archive: a}).Run(context.Background(), program, nil)
		return err
	}
	if err := run(archive); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, strings.TrimPrefix(string(ref), "sha256:"))
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("#!/bin/sh\necho swapped\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := run(archive); err != nil {
		t.Errorf("the sealed interpreter: %v", err)
	}
	fresh, err := capsule.OpenArchive(dir, held, unhealed(t))
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	clear(held.held)
	if err := run(fresh); !fault.Is(err, fault.Corrupt) {
		t.Errorf("a swapped interpreter: %v", err)
	}
}

// TestArchiveHeals damages the archived file: it is written anew from the store,
// and that is told.
func TestArchiveHeals(t *testing.T) {
	held, dir, _ := setup(t)
	ref := interpreter(t)
	file := filepath.Join(dir, strings.TrimPrefix(string(ref), "sha256:"))
	whole := held.held[ref].Bytes()
	for what, damage := range map[string][]byte{
		"one bit": append([]byte{whole[0] ^ 1}, whole[1:]...), "cut": whole[:100], "empty": nil,
		"longer": append(whole[:len(whole):len(whole)], 0),
	} {
		if err := os.RemoveAll(file); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, damage, 0o444); err != nil {
			t.Fatal(err)
		}
		var told []error
		archive, err := capsule.OpenArchive(dir, held, func(r store.Ref, was error) {
			if r != ref {
				t.Errorf("%s: told of %s", what, r)
			}
			told = append(told, was)
		})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if image, err := archive.Image(context.Background(), ref); err != nil || image.Ref != ref {
				t.Errorf("%s: %v", what, err)
			}
		}
		if err := archive.Close(); err != nil {
			t.Error(err)
		}
		if len(told) != 1 || !fault.Is(told[0], fault.Corrupt) {
			t.Errorf("%s: told %v", what, told)
		}
		if b, err := os.ReadFile(file); err != nil || !bytes.Equal(b, whole) {
			t.Errorf("%s: the file was not written anew: %v", what, err)
		}
	}
}

func TestRequestFrame(t *testing.T) {
	frame := capsule.EncodeRequest([]byte("source"), []byte("input"))
	source, input, err := capsule.DecodeRequest(bytes.NewReader(frame))
	if err != nil || string(source) != "source" || string(input) != "input" {
		t.Fatalf("%q %q %v", source, input, err)
	}
	for n := range frame {
		if _, _, err := capsule.DecodeRequest(bytes.NewReader(frame[:n])); !fault.Is(err, fault.Invalid) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
	huge := append([]byte{0, 0, 0, 0, 0xff, 0, 0, 0}, frame...)
	if _, _, err := capsule.DecodeRequest(bytes.NewReader(huge)); !fault.Is(err, fault.Invalid) {
		t.Errorf("a huge length: %v", err)
	}
}

func FuzzRequestFrame(f *testing.F) {
	f.Add(capsule.EncodeRequest([]byte("def main(a): return a"), []byte("{}")))
	f.Fuzz(func(t *testing.T, raw []byte) {
		source, input, err := capsule.DecodeRequest(bytes.NewReader(raw))
		if err == nil && !bytes.Equal(capsule.EncodeRequest(source, input), raw) {
			t.Fatal("two frames for one request")
		}
	})
}

func BenchmarkRun(b *testing.B) {
	_, _, archive := setup(b)
	program := capsule.Program{Interpreter: interpreter(b), Source: []byte("def main(a): return a")}
	for _, level := range []confine.Level{confine.Namespaces, confine.Landlock} {
		runner := capsule.New(capsule.Options{Jail: confinetest.Jail(b, level), Archive: archive})
		b.Run(level.String(), func(b *testing.B) {
			for b.Loop() {
				if _, err := runner.Run(context.Background(), program, []byte("{}")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
