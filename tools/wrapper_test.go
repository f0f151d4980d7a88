package tools

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"world/broker"
	"world/confine"
	"world/confine/confinetest"
	"world/store"
)

// TestWrapper: a script that waits for a file and then starts world-tool beside it
// serves as a tool; so does one that is swapped after it was sealed.
func TestWrapper(t *testing.T) {
	base := confinetest.Dir(t)
	bin := filepath.Join(base, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	program, err := io.ReadAll(confinetest.Image(t, confinetest.WorldTool).Reader())
	if err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\nwhile [ ! -e " + bin + "/go ]; do sleep 0.01; done\nexec " + bin + "/world-tool \"$@\"\n"
	for name, content := range map[string]string{"world-tool": string(program), "wrapper": script} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	handler, err := NewHandler(Options{
		Jail: confinetest.Jail(t, confine.Namespaces), Tool: filepath.Join(bin, "wrapper"),
		StateDir: filepath.Join(base, "state"), WorkspaceRoot: filepath.Join(base, "root"),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer handler.Close()
	d := desk{t: t, handler: handler, base: base, worktree: filepath.Join(base, "root", string(episode))}
	d.addEpisode(episode)
	answered := make(chan broker.Result, 1)
	go func() {
		answered <- handler.Handle(context.Background(), broker.Job{
			Episode: episode, Effect: WorkspaceWrite, Payload: []byte(`{"op":"write","path":"a","content":"x"}`), Deadline: 8 * time.Second,
		})
	}()
	select {
	case r := <-answered:
		t.Fatalf("the wrapper did not wait: %+v", r)
	case <-time.After(200 * time.Millisecond):
	}
	if err := os.WriteFile(filepath.Join(bin, "wrapper"), []byte("#!/bin/sh\nexit 9\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 { // once started before the swap, once after it
		if r := <-answered; r.Status != store.StatusSucceeded || d.get("a") != "x" {
			t.Fatalf("%+v", r)
		}
		answered <- d.handle(WorkspaceWrite, `{"op":"write","path":"a","content":"x"}`)
	}
}
