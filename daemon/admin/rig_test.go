package admin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"world/coordinator/registry"
	"world/fault/await"
	"world/session"
	"world/session/attended"
	"world/session/worktree"
	"world/store"
	"world/store/sqlite"
)

const (
	born     = 1_000_000 // logical time of genesis
	patience = 20 * time.Second
)

// TestMain makes this binary the client too: a peer must be another process,
// with a terminal of its own.
func TestMain(m *testing.M) {
	if how := os.Getenv("ADMIN_TEST_CLIENT"); how != "" {
		os.Exit(act(how))
	}
	code := m.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// daemon is a serving admin door on a real store.
type daemon struct {
	dir    string
	desk   attended.Desk
	world  store.Ref
	root   worktree.Root
	server *Server
	stop   func()
}

func startDaemon(t *testing.T) *daemon {
	t.Helper()
	d := &daemon{dir: t.TempDir(), root: worktree.Root(t.TempDir())}
	s, err := sqlite.Open(t.Context(), filepath.Join(d.dir, "world.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := registry.Bootstrap(t.Context(), s, nil, []byte("interpreter"), born); err != nil {
		t.Fatal(err)
	}
	genesis, err := s.Entry(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	d.world = genesis.Hash
	d.desk = attended.Desk{
		Office: session.Office{Store: s, Draft: func(ctx context.Context, verb string, about store.Ref) (store.Draft, error) {
			return registry.HostDraft(ctx, s, verb, about)
		}},
		Root: d.root, Wall: func() time.Time { return time.Unix(born+5, 0) }, Wait: patience,
	}
	d.server = &Server{Desk: d.desk, World: d.world, Log: zerolog.Nop()}
	l, err := Listen(d.dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- d.server.Serve(ctx, l) }()
	d.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(d.stop)
	return d
}

// head is the index of the newest entry: 0 while nothing was minted.
func (d *daemon) head(t *testing.T) int64 {
	t.Helper()
	h, err := d.desk.Office.Store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return h.Index
}

// client is one run of a client process at a terminal of its own.
type client struct {
	cmd      *exec.Cmd
	keyboard *os.File
	tty      *os.File
	out      bytes.Buffer
	mu       sync.Mutex
	screen   bytes.Buffer
	watching sync.WaitGroup
}

// startClient starts a client of the daemon that acts in one of the ways of act.
func (d *daemon) startClient(t *testing.T, how string, env ...string) *client {
	t.Helper()
	return d.start(t, how, nil, env)
}

// startClientWith hands files to the client, from descriptor 4 upwards.
func (d *daemon) startClientWith(t *testing.T, how string, files ...*os.File) *client {
	t.Helper()
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	return d.start(t, how, files, nil)
}

func (d *daemon) start(t *testing.T, how string, files []*os.File, env []string) *client {
	t.Helper()
	c := &client{cmd: exec.Command(os.Args[0])}
	var err error
	if c.keyboard, c.tty, err = pty.Open(); err != nil {
		t.Fatal(err)
	}
	c.cmd.Env = append(os.Environ(), "ADMIN_TEST_CLIENT="+how, "STATE="+d.dir, "WORLD="+string(d.world))
	c.cmd.Env = append(c.cmd.Env, env...)
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = c.tty, &c.out, &c.out
	c.cmd.ExtraFiles = append([]*os.File{c.keyboard}, files...)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.watching.Go(c.watch)
	t.Cleanup(c.end)
	return c
}

func (c *client) watch() {
	chunk := make([]byte, 512)
	for {
		n, err := c.keyboard.Read(chunk)
		c.mu.Lock()
		c.screen.Write(chunk[:n])
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (c *client) saw() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.screen.String()
}

// asked waits until the terminal shows the question.
func (c *client) asked(t *testing.T) {
	t.Helper()
	until(t, "the question", func() bool { return strings.HasSuffix(c.saw(), "[y/N] ") })
}

func (c *client) types(t *testing.T, text string) {
	t.Helper()
	if _, err := c.keyboard.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// answer waits for the end of the client and returns its exit code and output.
func (c *client) answer(t *testing.T) (int, string) {
	t.Helper()
	kill := time.AfterFunc(patience, func() { c.cmd.Process.Kill() })
	defer kill.Stop()
	if err := c.cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return c.cmd.ProcessState.ExitCode(), strings.TrimSpace(c.out.String())
}

// end leaves no process and no reader behind.
func (c *client) end() {
	if c.cmd.ProcessState == nil {
		c.cmd.Process.Kill()
		c.cmd.Wait()
	}
	c.tty.Close()
	c.watching.Wait() // the last of the terminal's other end is closed
	c.keyboard.Close()
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	await.That(t, what, holds)
}
