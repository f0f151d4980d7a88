package admin

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"world/canon"
	"world/fault"
	"world/session"
	"world/store"
)

func TestNewAddsAWorktreeAtTheClientsWord(t *testing.T) {
	d := startDaemon(t)
	for name, c := range map[string]struct {
		root, answer string
		code         int
		want         string
	}{
		"another root": {t.TempDir(), "", 1, "another workspace root"},
		"refused":      {"", "n\n", 1, "aborted"},
		"its root":     {string(d.root), "y\n", 0, filepath.Join(string(d.root), "ep")},
	} {
		repository := newRepository(t)
		run := d.startClient(t, "new", "REPO="+repository, "ROOT="+c.root)
		if c.answer != "" {
			run.asked(t)
			run.types(t, c.answer)
		}
		if code, out := run.answer(t); code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("%s: exit %d: %s", name, code, out)
		}
		if _, err := os.Stat(d.root.Path("ep")); (err == nil) != (c.code == 0) {
			t.Errorf("%s: the worktree: %v", name, err)
		}
		if err := os.RemoveAll(d.root.Path("ep")); err != nil { // the next case starts over
			t.Fatal(err)
		}
	}
}

func newRepository(t *testing.T) string {
	t.Helper()
	repository := t.TempDir()
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "one"}} {
		git := exec.Command("git", append([]string{"-C", repository}, args...)...)
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	return repository
}

func TestDecodeRequest(t *testing.T) {
	world := store.RefOf(nil)
	m := mintTerms(terms())
	good := request{World: world, Mint: &m}
	if got, err := decodeRequest(canon.Encode(good)); err != nil || got.Mint.Episode != "ep" {
		t.Fatalf("a good request: %v", err)
	}
	id := session.NewToken().ID()
	for name, q := range map[string]request{
		"no verb":        {World: world},
		"two verbs":      {World: world, Mint: &m, Revoke: &revocation{Episode: "ep"}},
		"mint and word":  {World: world, Mint: &m, Reconcile: &word{ID: "effect:ep:0", Verdict: "failed", Note: "n"}},
		"no world":       {Mint: &m},
		"not a world":    {World: "sha256:0", Mint: &m},
		"revoke nothing": {World: world, Revoke: &revocation{}},
		"revoke both":    {World: world, Revoke: &revocation{Episode: "ep", Credential: id}},
	} {
		if _, err := decodeRequest(canon.Encode(q)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	text := string(canon.Encode(good))
	for name, bad := range map[string]string{
		"empty":          "",
		"trailing":       text + " ",
		"another value":  text + text,
		"unknown member": strings.Replace(text, `"ttl":60`, `"ttl":60,"x":1`, 1),
		"double member":  strings.Replace(text, `"ttl":60`, `"ttl":60,"ttl":60`, 1),
		"re-cased":       strings.Replace(text, `"ttl"`, `"TTL"`, 1),
		"missing":        strings.Replace(text, `,"ttl":60`, ``, 1),
		"a text":         strings.Replace(text, `"ttl":60`, `"ttl":"60"`, 1),
		"overflow":       strings.Replace(text, `"ttl":60`, `"ttl":9223372036854775808`, 1),
		"nul":            strings.Replace(text, `"ep"`, "\"e\x00p\"", 1),
		"bad utf-8":      strings.Replace(text, `"ep"`, "\"e\xffp\"", 1),
	} {
		if _, err := decodeRequest([]byte(bad)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestRefusalsKeepTheirKindAndLoseTheirCause(t *testing.T) {
	err := refused(fault.Wrap("a: b", fault.Conflict, errors.New("/secret/path"), "it exists")).err()
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "it exists") || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
	if err := refused(errors.New("/secret/path")).err(); !fault.Is(err, fault.Internal) || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
	if err := (reply{Refusal: &refusal{Kind: "no such kind"}}).err(); !fault.Is(err, fault.Internal) {
		t.Errorf("an unknown kind: got %v", err)
	}
	if err := (reply{}).err(); err != nil {
		t.Errorf("no refusal: got %v", err)
	}
}

func TestFrames(t *testing.T) {
	a, b := sockets(t)
	file, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []struct {
		body []byte
		file *os.File
	}{{[]byte("hello"), nil}, {nil, nil}, {[]byte("with a file"), file}, {[]byte("and without again"), nil}} {
		if err := send(a, c.body, c.file); err != nil {
			t.Fatal(err)
		}
		body, got, err := receive(b)
		if err != nil || !bytes.Equal(body, c.body) || (got == nil) != (c.file == nil) {
			t.Errorf("%q: got %q, %v, %v", c.body, body, got, err)
		}
		if got != nil {
			if flags, err := unix.FcntlInt(got.Fd(), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
				t.Errorf("the file would be inherited by children: %v", err)
			}
			got.Close()
		}
	}
	if err := send(a, make([]byte, maxFrame+1), nil); !fault.Is(err, fault.Limit) {
		t.Errorf("too long to send: got %v", err)
	}
	a.Write([]byte{0, 4, 0, 1}) // maxFrame + 1
	if _, _, err := receive(b); !fault.Is(err, fault.Invalid) {
		t.Errorf("too long to receive: got %v", err)
	}
	a.Write([]byte{0, 0, 0, 9, 'c', 'u', 't'})
	a.Close()
	if _, _, err := receive(b); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut short: got %v", err)
	}
	if _, _, err := receive(b); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: got %v", err)
	}
}

func TestParseStat(t *testing.T) {
	for text, want := range map[string]stat{
		"12 (sh) S 1 10 9 34817 11 0 0":          {group: 10, tty: 34817, foreground: 11},
		"12 (a) b) (c ) R 1 10 9 34817 11 0 0\n": {group: 10, tty: 34817, foreground: 11},
		"12 (sh) S 1 10 9 0 -1 0 0":              {group: 10, tty: 0, foreground: -1},
	} {
		if got, err := parseStat([]byte(text)); err != nil || got != want {
			t.Errorf("%q: got %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "12 (sh) S 1 10", "12 (sh) S 1 x 9 34817 11 0"} {
		if got, err := parseStat([]byte(text)); err == nil {
			t.Errorf("%q: got %+v", text, got)
		}
	}
	if got, err := readStat(os.Getpid()); err != nil || got.group != unix.Getpgrp() {
		t.Errorf("of this process: got %+v, %v", got, err)
	}
}

func FuzzDecodeRequest(f *testing.F) {
	m := mintTerms(terms())
	f.Add(canon.Encode(request{World: store.RefOf(nil), Mint: &m}))
	f.Add(canon.Encode(request{World: store.RefOf(nil), Revoke: &revocation{Episode: "ep"}}))
	f.Add([]byte(`{"world":"","mint":null,"new":null,"revoke":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		q, err := decodeRequest(raw)
		if err == nil && !bytes.Equal(canon.Encode(q), raw) {
			t.Fatalf("%q is accepted and is not its exact form", raw)
		}
	})
}

// sockets returns the two ends of a connection.
func sockets(t *testing.T) (a, b *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ends := make([]*net.UnixConn, 2)
	for i, fd := range fds {
		file := os.NewFile(uintptr(fd), "end")
		conn, err := net.FileConn(file)
		file.Close()
		if err != nil {
			t.Fatal(err)
		}
		ends[i] = conn.(*net.UnixConn)
		t.Cleanup(func() { conn.Close() })
	}
	return ends[0], ends[1]
}
