package tools

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"world/confine"
)

// TestToolCannotGetOut: a hostile tool binary sees one worktree and nothing else.
func TestToolCannotGetOut(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	attacks := map[string]string{
		"read the state":          `cat BASE/state/policies/*.toml && out=yes`,
		"list the state":          `[ -n "$(ls BASE/state)" ] && out=yes`,
		"read another worktree":   `cat BASE/root/ep-2/private && out=yes`,
		"write another worktree":  `echo x > BASE/root/ep-2/planted && out=yes`,
		"write beside":            `echo x > BASE/planted && out=yes`,
		"write the tool":          `echo x > BASE/bin/tool && out=yes`,
		"read what is mine alone": `cat BASE/bin/own && out=yes`,
		"connect":                 `bash -c 'echo > /dev/tcp/127.0.0.1/PORT' && out=yes`,
		"see the daemon":          `[ -e /proc/PID/environ ] && [ "$(cat /proc/PID/cmdline | tr -d '\0')" = "$(printf %s 'CMDLINE')" ] && out=yes`,
		"write for a read effect": `echo x > planted && out=yes`,
		"environment":             `[ -n "$WORLD_TEST_SECRET" ] && out=yes`,
	}
	t.Setenv("WORLD_TEST_SECRET", "x")
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			script := "out=no\n" + attack + "\necho \"{\\\"ok\\\":true,\\\"content\\\":\\\"$out\\\"}\"\n"
			d := newDesk(t, confine.Namespaces, "")
			replaced := strings.NewReplacer("BASE", d.base, "PORT", port, "PID", fmt.Sprint(os.Getpid()), "CMDLINE", os.Args[0]).Replace(script)
			if err := os.Mkdir(filepath.Join(d.base, "bin"), 0o755); err != nil {
				t.Fatal(err)
			}
			tool := filepath.Join(d.base, "bin", "tool")
			if err := os.WriteFile(tool, []byte("#!/bin/sh\n"+replaced), 0o755); err != nil {
				t.Fatal(err)
			}
			if own := filepath.Join(d.base, "bin", "own"); strings.Contains(attack, "bin/own") { // beside the tool
				if err := os.WriteFile(own, []byte("x"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			handler, err := NewHandler(Options{Jail: d.handler.jail, Tool: tool, StateDir: filepath.Join(d.base, "state"), WorkspaceRoot: filepath.Join(d.base, "root")})
			if err != nil {
				t.Fatal(err)
			}
			defer handler.Close()
			d.handler = handler
			d.addEpisode("ep-2")
			private := filepath.Join(d.base, "root", "ep-2", "private")
			if err := os.WriteFile(private, []byte("x"), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, open := range []string{filepath.Dir(private), d.base, tool, filepath.Join(d.base, "bin")} {
				if err := os.Chmod(open, 0o777); err != nil { // only the jail stands in the way
					t.Fatal(err)
				}
			}
			r := d.handle(WorkspaceRead, `{"op":"read","path":"a"}`)
			// Beside the worktree lies a private /tmp here; what counts is the host.
			if content := member(r, "content"); content != `"no"` && (name != "write beside" || content != `"yes"`) {
				t.Errorf("%+v %s", r, r.Output)
			}
			for _, planted := range []string{"planted", "root/ep-2/planted", "root/ep-1/planted"} {
				if _, err := os.Lstat(filepath.Join(d.base, planted)); err == nil {
					t.Errorf("planted %s", planted)
				}
			}
		})
	}
}
