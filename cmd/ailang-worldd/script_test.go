package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"

	"world/confine/confinetest"
	"world/coordinator/registry"
	"world/store/engine"
)

// Scripts run this binary as these programs, each a process of its own.
var programs = map[string]func(){
	program:       main,
	"at-terminal": func() { os.Exit(atTerminal(os.Args[1], os.Args[2:])) },
}

func params(dir string, env func(*testscript.Env) error) testscript.Params {
	return testscript.Params{
		Dir: dir, Setup: env, RequireExplicitExec: true, RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "begin": begin, "flip": flip, "mode": mode, "keep": keep, "lose": lose,
		},
	}
}

// TestAlone runs the verbs on stores that no daemon holds.
func TestAlone(t *testing.T) { testscript.Run(t, params("testdata/alone", nil)) }

// TestBesideADaemon runs the verbs while a daemon holds the store.
func TestBesideADaemon(t *testing.T) {
	f := flagsIn(confinetest.Dir(t))
	d := start(t, f)
	t.Run("scripts", func(t *testing.T) {
		testscript.Run(t, params("testdata/daemon", func(env *testscript.Env) error {
			l, err := newLayout(f.db, f.state, f.workspaces)
			env.Setenv("ADDR", d.url)
			env.Setenv("DB", l.db.String())
			env.Setenv("STATE", l.state)
			env.Setenv("WS", l.workspaces)
			return err
		}))
	})
}

// exits CODE PROGRAM ARGS... runs a program and wants exactly this exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code program [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("%s exits %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// opened opens the store that a script names, a file or a database.
func opened(ctx context.Context, ts *testscript.TestScript, db string, o engine.Options) engine.Store {
	if !engine.Database(db) {
		db = ts.MkAbs(db)
		ts.Check(os.MkdirAll(filepath.Dir(db), 0o700))
	}
	p, err := engine.Parse(db)
	ts.Check(err)
	s, err := p.Open(ctx, o)
	ts.Check(err)
	return s
}

// begin DB makes a store with a genesis.
func begin(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: begin db")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s := opened(ctx, ts, args[0], engine.Options{Create: true})
	_, err := registry.Bootstrap(ctx, s, nil, []byte("interpreter"), time.Now().Unix())
	ts.Check(errors.Join(err, s.Close()))
}

// flip FILE TEXT changes one byte of the last place where a file holds a text.
func flip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: flip file text")
	}
	path := ts.MkAbs(args[0])
	b, err := os.ReadFile(path)
	ts.Check(err)
	at := bytes.LastIndex(b, []byte(args[1]))
	if at < 0 {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	b[at] ^= 1
	ts.Check(os.WriteFile(path, b, 0o600))
}

// mode FILE OCTAL wants a file's permissions.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mode file octal")
	}
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := fmt.Sprintf("%o", info.Mode().Perm()); got != args[1] {
		ts.Fatalf("%s has mode %s, want %s", args[0], got, args[1])
	}
}

// keep VARIABLE FILE puts a file's first word into a variable.
func keep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: keep variable file")
	}
	words := strings.Fields(ts.ReadFile(args[1]))
	if len(words) == 0 {
		ts.Fatalf("%s is empty", args[1])
	}
	ts.Setenv(args[0], words[0])
}

// atTerminal runs a program at a controlling terminal of its own and types the
// answer, if it is not empty, once a question stands there. What the terminal
// showed goes to stderr, with a mark before each line.
func atTerminal(answer string, args []string) int {
	keyboard, tty, err := pty.Open()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 99
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 99
	}
	typed := answer + "\n"
	if answer == "^C" {
		typed = "\x03"
	}
	watched := make(chan string)
	go func() {
		var screen strings.Builder
		chunk := make([]byte, 512)
		for asked := false; ; {
			n, err := keyboard.Read(chunk)
			screen.Write(chunk[:n])
			if !asked && answer != "" && strings.HasSuffix(screen.String(), "[y/N] ") {
				asked = true
				keyboard.WriteString(typed)
			}
			if err != nil {
				watched <- screen.String()
				return
			}
		}
	}()
	_ = cmd.Wait() // the exit code is read from the process state
	tty.Close()
	for line := range strings.Lines(<-watched) {
		fmt.Fprintf(os.Stderr, "screen: %s\n", strings.TrimSpace(line))
	}
	return cmd.ProcessState.ExitCode()
}
