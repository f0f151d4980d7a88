// Package pgtest gives tests a real PostgreSQL: one throwaway cluster a test
// binary, a fresh database a test, and crashes on request.
//
// It promises that nothing stays behind, even when the test binary is killed:
// the cluster belongs to the script ci/postgres, which ends with its input.
package pgtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Cluster is a running PostgreSQL server with a folder of its own.
type Cluster struct {
	url   string
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	mu    sync.Mutex
	fresh atomic.Int64
}

// Start starts a cluster. Options go to the server, such as "-c", "max_connections=20".
func Start(options ...string) (*Cluster, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	c := &Cluster{cmd: exec.Command(filepath.Join(root, "ci", "postgres"))}
	if len(options) > 0 {
		c.cmd.Env = append(os.Environ(), "POSTGRES_OPTIONS="+strings.Join(options, " "))
	}
	c.cmd.Stderr = os.Stderr
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	c.out = bufio.NewReader(out)
	if c.url, err = c.line(); err != nil {
		c.Close()
		return nil, fmt.Errorf("the cluster did not start: %w", err)
	}
	return c, nil
}

// moduleRoot is the folder of go.mod: tests run somewhere below it.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			err = errors.New("no go.mod above the working folder")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

func (c *Cluster) line() (string, error) {
	s, err := c.out.ReadString('\n')
	return strings.TrimSuffix(s, "\n"), err
}

// Close stops the cluster and removes its folder.
func (c *Cluster) Close() error {
	c.in.Close()
	return c.cmd.Wait()
}

// ask gives the script a command and returns its answer.
func (c *Cluster) ask(t testing.TB, command string) string {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintln(c.in, command)
	answer, err := c.line()
	if err != nil {
		t.Fatalf("postgres: %s: %v", command, err)
	}
	return answer
}

func (c *Cluster) tell(t testing.TB, command string) {
	t.Helper()
	if answer := c.ask(t, command); answer != "ok" {
		t.Fatalf("postgres: %s answered %q", command, answer)
	}
}

// Replica adds a second server that follows the first one and without which
// nothing is committed any more. Databases made by Fresh from now on have a URL
// that leads to whichever of the two can be written. Once a cluster.
func (c *Cluster) Replica(t testing.TB) { t.Helper(); c.url = c.ask(t, "replica") }

// Promote ends the first server at once and lets its replica take its place.
func (c *Cluster) Promote(t testing.TB) { t.Helper(); c.tell(t, "promote") }

// Crash ends the server at once, as a power cut of its process would.
func (c *Cluster) Crash(t testing.TB) { t.Helper(); c.tell(t, "stop") }

// Recover starts a crashed server again and returns when it accepts connections.
func (c *Cluster) Recover(t testing.TB) { t.Helper(); c.tell(t, "start") }

// Restart crashes the server and starts it again.
func (c *Cluster) Restart(t testing.TB) { t.Helper(); c.tell(t, "restart") }

// Fresh makes an empty database for this test and returns its URL. It goes with the
// cluster: dropping it would sync the whole cluster for nothing.
func (c *Cluster) Fresh(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test%d", c.fresh.Add(1))
	c.Exec(t, c.url, "CREATE DATABASE "+name)
	u, err := url.Parse(c.url)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

// Exec runs SQL behind the engine's back.
func (c *Cluster) Exec(t testing.TB, url, sql string, args ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

var shared struct {
	sync.Mutex
	*Cluster
}

// Main runs the tests of a binary and then takes its shared cluster down.
func Main(m interface{ Run() int }) {
	code := m.Run()
	shared.Lock()
	if shared.Cluster != nil {
		if err := shared.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "pgtest:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// Shared returns the binary's cluster, started on first use; Main takes it down.
func Shared(t testing.TB) *Cluster {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.Cluster == nil {
		c, err := Start()
		if err != nil {
			t.Fatal(err)
		}
		shared.Cluster = c
	}
	return shared.Cluster
}
