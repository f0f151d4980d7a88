package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"world/broker"
	"world/confine"
	"world/confine/confinetest"
	"world/coordinator"
	"world/coordinator/capsule"
	"world/coordinator/coordtest"
	"world/fault"
	"world/store"
)

// recorded is a world whose calls were made by this build's own interpreter, or
// by one that the test puts in its place.
func recorded(t *testing.T, interpreter []byte, runner capsule.Runner) replayFlags {
	t.Helper()
	before := coordtest.Interpreter
	coordtest.Interpreter = interpreter
	defer func() { coordtest.Interpreter = before }()
	hand := &coordtest.Hand{Answer: func(job broker.Job) broker.Result { return coordtest.Succeed(`{"ok":true}`) }}
	w := coordtest.New(t, coordtest.Handlers{coordtest.Write: hand, coordtest.Read: hand}, func(o *coordinator.Options) {
		if runner != nil {
			o.Runner = runner
		}
	})
	live := w.Mint("ep", coordtest.Grant(coordtest.Write, coordtest.Scope, 1))
	w.Must(live, coordtest.Act, "ok", `{"do":"write","finish":{"all":"done"}}`)
	w.Must(live, coordtest.Act, "denied", `{}`)
	w.Must(live, coordtest.Echo, "pure", `{"x":1}`)
	return replayFlags{where: where{db: w.Path, state: confinetest.Dir(t)}, all: true, floor: confine.Landlock.String()}
}

// again replays and returns the exit code and what was printed.
func again(t *testing.T, f replayFlags, id store.InvocationID) (int, string) {
	t.Helper()
	var out, said bytes.Buffer
	err := replayCalls(t.Context(), f, id, worldTool, &out, newMeter(&said, "replay"))
	if told := strings.Contains(said.String(), " calls in "); err == nil && told != f.all {
		t.Errorf("a replay, all %v, says %q", f.all, &said)
	}
	if err == nil {
		return exitDone, out.String()
	}
	if e := (exit{}); !errors.As(err, &e) {
		t.Logf("replay: %v", err)
	}
	return exitCode(err), out.String()
}

func ownInterpreter(t *testing.T) []byte {
	t.Helper()
	b, err := os.ReadFile(worldTool)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestReplayInTheJailIsTheSame(t *testing.T) {
	f := recorded(t, ownInterpreter(t), nil)
	code, out := again(t, f, "")
	if code != exitDone || !strings.HasSuffix(out, "replayed: 3 same, 0 diverged\n") || strings.Count(out, "same \"mcp:ep:") != 3 {
		t.Errorf("exit %d: %s", code, out)
	}
	f.all = false
	if code, out := again(t, f, "mcp:ep:ok"); code != exitDone || out != "same \"mcp:ep:ok\"\n" {
		t.Errorf("one call: exit %d: %s", code, out)
	}
	if code, out := again(t, f, "mcp:ep:never"); code != exitRefused || out != "" {
		t.Errorf("no call: exit %d: %s", code, out)
	}
	f.current = true
	if code, out := again(t, f, "mcp:ep:ok"); code != exitDone {
		t.Errorf("today's interpreter: exit %d: %s", code, out)
	}
}

// liar answers pure calls with something that the program does not say.
type liar struct{ coordtest.Runner }

func (l liar) Run(ctx context.Context, p capsule.Program, input []byte) ([]byte, error) {
	out, err := l.Runner.Run(ctx, p, input)
	return bytes.ReplaceAll(out, []byte(`"echo"`), []byte(`"lied"`)), err
}

func TestReplayNamesADivergence(t *testing.T) {
	f := recorded(t, ownInterpreter(t), liar{})
	code, out := again(t, f, "")
	if code != exitIntegrity || !strings.Contains(out, "replayed: 2 same, 1 diverged\n") {
		t.Errorf("exit %d: %s", code, out)
	}
	if !strings.Contains(out, `diverged "mcp:ep:pure" at output: wanted `) || !strings.Contains(out, ", got ") {
		t.Errorf("the divergence is not named: %s", out)
	}
	f.all = false
	if code, _ := again(t, f, "mcp:ep:pure"); code != exitIntegrity {
		t.Errorf("one call: exit %d", code)
	}
}

func TestReplayCountsWhatItCannotReplay(t *testing.T) {
	f := recorded(t, []byte("an interpreter that this machine cannot run"), nil)
	code, out := again(t, f, "")
	if code != exitDone || !strings.HasSuffix(out, "replayed: 0 same, 0 diverged, 3 not replayable (interpreter absent)\n") {
		t.Errorf("exit %d: %s", code, out)
	}
	f.current = true // the programs themselves are fine
	if code, out := again(t, f, ""); code != exitDone || !strings.HasSuffix(out, "replayed: 3 same, 0 diverged\n") {
		t.Errorf("with today's interpreter: exit %d: %s", code, out)
	}
}

func TestReplayRefusesWhatItCannotStart(t *testing.T) {
	f := recorded(t, ownInterpreter(t), nil)
	f.floor = "no such level"
	if code, _ := again(t, f, ""); code != exitRefused {
		t.Errorf("an unknown level: exit %d", code)
	}
	f.floor = confine.Landlock.String()
	var out bytes.Buffer
	if err := replayCalls(t.Context(), f, "", filepath.Join(t.TempDir(), "none"), &out, newMeter(io.Discard, "replay")); err == nil {
		t.Error("without world-tool it replays")
	}
	f.db = filepath.Join(t.TempDir(), "none.db")
	if err := replayCalls(t.Context(), f, "", worldTool, &out, newMeter(io.Discard, "replay")); !fault.Is(err, fault.NotFound) {
		t.Errorf("without a store: %v", err)
	}
}
