package tools

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"world/confine"
	"world/confine/confinetest"
)

// step is what the scripted tool binary does for one verb (command toolplay).
type step struct {
	Write          map[string]string
	Stdout, Stderr string
	Repeat         int
	Sleep          time.Duration
	Signal, Exit   int
	Echo           bool
}

// playing is a handler whose tool is the scripted binary, checked at start.
func playing(t testing.TB, options func(*Options)) desk {
	t.Helper()
	d := newDesk(t, confine.Namespaces, "")
	program, err := io.ReadAll(confinetest.Image(t, "world/tools/toolplay").Reader())
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Jail: d.handler.jail, Tool: filepath.Join(d.base, "toolplay"),
		StateDir: filepath.Join(d.base, "state"), WorkspaceRoot: filepath.Join(d.base, "root"),
	}
	if err := os.WriteFile(o.Tool, program, 0o755); err != nil {
		t.Fatal(err)
	}
	if options != nil {
		options(&o)
	}
	if o.Examples != "" {
		if err := os.Mkdir(o.Examples, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	handler, err := NewHandler(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { handler.Close() })
	if err := handler.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.handler = handler
	return d
}

// play says what the tool does next.
func (d desk) play(steps map[string]step) {
	d.t.Helper()
	raw, err := json.Marshal(steps)
	if err != nil {
		d.t.Fatal(err)
	}
	d.put("play.json", string(raw))
}
