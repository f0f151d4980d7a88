package policytool

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"world/canon"
	"world/tools/policy"
)

// MaxContent is the largest text that a read answers, in bytes of the JSON string
// without its quotes: with everything that is added to it on its way to an agent
// it stays below the 4 MiB of an output.
const MaxContent = 4_000_000

// operation is one op: the members it takes and what it does.
type operation struct {
	takes []string
	run   func(t *tree, q Request, digest string) Response
}

func operations() map[string]operation {
	return map[string]operation{
		"summary": {nil, summary},
		"read":    {[]string{"path"}, read},
		"write":   {[]string{"path", "content"}, writeFile},
		"edit":    {[]string{"path", "old_text", "new_text"}, edit},
	}
}

func operationNames() []string { return slices.Sorted(maps.Keys(operations())) }

func summary(t *tree, _ Request, digest string) Response {
	return Response{OK: true, Summary: &Summary{
		SecurityMode: t.policy.SecurityMode, PolicyDigest: digest, Sandbox: t.policy.Sandbox,
		Caps: t.policy.AllowedCaps, NetAllow: []string{}, ProcessAllow: []string{}, CLI: []string{},
		Ops: operationNames(), TimeoutMS: t.policy.TimeoutMillis,
	}}
}

func read(t *tree, q Request, _ string) Response {
	if q.Path == "" {
		return refused("read: path is required")
	}
	p, err := t.locateUnless(q.Path, policy.Closed)
	if err != nil {
		return refused("read %s: %s", q.Path, reason(err))
	}
	defer p.Close()
	text, err := p.read(t.policy.MaxTransfer)
	if err != nil {
		return refused("read %s: %s", q.Path, reason(err))
	}
	if size := len(canon.NewString(text).Bytes()) - len(`""`); size > MaxContent {
		return refused("read %s: the file is %d bytes as JSON text; the limit is %d", q.Path, size, MaxContent)
	}
	return Response{OK: true, Content: text}
}

func writeFile(t *tree, q Request, _ string) Response {
	if q.Path == "" {
		return refused("write: path is required")
	}
	p, err := t.locateUnless(q.Path, t.policy.Protection)
	if err != nil {
		return refused("write %s: %s", q.Path, reason(err))
	}
	defer p.Close()
	if err := p.replace(q.Content, t.policy.MaxTransfer); err != nil {
		return refused("write %s: %s", q.Path, reason(err))
	}
	return Response{OK: true}
}

func edit(t *tree, q Request, _ string) Response {
	if q.Path == "" {
		return refused("edit: path is required")
	}
	if q.OldText == "" {
		return refused("edit %s: old_text is required (use write to create a file)", q.Path)
	}
	p, err := t.locateUnless(q.Path, t.policy.Protection)
	if err != nil {
		return refused("edit %s: %s", q.Path, reason(err))
	}
	defer p.Close()
	text, err := p.read(t.policy.MaxTransfer)
	if err != nil {
		return refused("edit %s: %s", q.Path, reason(err))
	}
	switch n := strings.Count(text, q.OldText); {
	case n == 0:
		return refused("edit %s: old_text not found — the file may have changed; read it again", q.Path)
	case n > 1:
		return refused("edit %s: old_text occurs %d times; include more context so it is unique", q.Path, n)
	}
	if err := p.replace(strings.Replace(text, q.OldText, q.NewText, 1), t.policy.MaxTransfer); err != nil {
		return refused("edit %s: %s", q.Path, reason(err))
	}
	return Response{OK: true}
}

// locateUnless is locate for a path that a rule must not forbid, neither as it is
// written nor where its links lead. The rule returns why it forbids, or "".
func (t *tree) locateUnless(path string, forbids func(string) string) (place, error) {
	if text := forbids(path); text != "" {
		return place{}, errors.New(text)
	}
	p, err := t.locate(path)
	if err != nil {
		return place{}, err
	}
	if text := forbids(p.path); text != "" {
		p.Close()
		return place{}, errors.New(text)
	}
	return p, nil
}

var (
	errNotRegular = errors.New("not a regular file")
	errReadOnly   = errors.New("the file is read-only: its mode forbids its owner to write it")
)

// read returns a regular file's text of at most limit bytes.
func (p place) read(limit int64) (string, error) {
	if p.info == nil {
		return "", syscall.ENOENT
	}
	if !p.info.Mode().IsRegular() {
		return "", errNotRegular
	}
	// Not following and not waiting: by now the name may be a link or a pipe.
	f, err := p.dir.OpenFile(p.name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !os.SameFile(info, p.info) {
		return "", errors.Join(errNotRegular, err)
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return "", err
	}
	if int64(len(b)) > limit {
		return "", fmt.Errorf("file exceeds the %d-byte transfer cap", limit)
	}
	if !utf8.Valid(b) {
		return "", errors.New("not UTF-8 text; binary files cannot be read or edited as text")
	}
	return string(b), nil
}

// temporary draws a name under which new content is written before it takes the
// file's place. Nobody else has it: so no file of a user is in the way or lost,
// and what a killed write leaves never blocks another.
func temporary() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: the process would have ended
	return ".world-tool-" + hex.EncodeToString(b[:]) + ".tmp"
}

// replace puts new content in the place of a regular file, or of nothing. A file
// that its owner has marked read-only stays as it is.
func (p place) replace(content string, limit int64) error {
	if int64(len(content)) > limit {
		return fmt.Errorf("content exceeds the %d-byte transfer cap", limit)
	}
	mode := fs.FileMode(0o644)
	if p.info != nil {
		if !p.info.Mode().IsRegular() {
			return errNotRegular
		}
		if mode = p.info.Mode().Perm(); mode&0o200 == 0 {
			return errReadOnly
		}
	}
	name := temporary()
	f, err := p.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err == nil {
		err = p.dir.Rename(name, p.name)
	}
	if err != nil {
		p.dir.Remove(name)
	}
	return err
}

// reason is an error's text without any path.
func reason(err error) string {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err.Error()
	case errors.As(err, &link):
		return link.Err.Error()
	}
	return err.Error()
}
