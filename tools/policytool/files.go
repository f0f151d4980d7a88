package policytool

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"world/canon"
	"world/store"
	"world/tools/overlay"
	"world/tools/policy"
)

// MaxContent is the largest text that a read answers, in bytes of the JSON string
// without its quotes: with everything that is added to it on its way to an agent
// it stays below the 4 MiB of an output.
const MaxContent = 4_000_000

func read(t *tree, q Request, _ string) Response {
	if q.Path == "" {
		return refused("read: path is required")
	}
	p, err := t.locateUnless(q.Path, policy.Closed)
	if err != nil {
		return refused("read %s: %s", q.Path, reason(err))
	}
	defer p.Close()
	answer, err := t.readAsAsked(p, q)
	if err != nil {
		return refused("read %s: %s", q.Path, reason(err))
	}
	return answer
}

// readAsAsked reads a whole file or a part of one.
func (t *tree) readAsAsked(p place, q Request) (r Response, err error) {
	w, part, err := q.window()
	if err != nil {
		return r, err
	}
	what := "file"
	if part {
		r, err = p.readPart(w)
		what = "part"
	} else {
		r.OK = true
		r.Content, err = p.read(t.policy.MaxTransfer)
	}
	if large := (errLarge)(0); errors.As(err, &large) {
		return r, fmt.Errorf("%s; read part of it with offset and limit", large)
	}
	if err == nil && len(canon.NewString(r.Content).Bytes())-len(`""`) > MaxContent {
		err = errTooMuch(what)
	}
	return r, err
}

func writeFile(t *tree, q Request, _ string) Response {
	if q.Path == "" {
		return refused("write: path is required")
	}
	p, err := t.locateUnless(q.Path, t.policy.Protection)
	var made folders
	if errors.Is(err, fs.ErrNotExist) && !strings.HasSuffix(q.Path, "/") {
		if made, err = t.makeFolders(q.Path); err == nil {
			p, err = t.locateUnless(q.Path, t.policy.Protection)
		}
	}
	if err != nil {
		made.undo(t)
		return refused("write %s: %s", q.Path, reason(err))
	}
	defer p.Close()
	before, err := p.digest()
	if err == nil {
		err = p.replace(q.Content, t.policy.MaxTransfer)
	}
	if err != nil {
		made.undo(t)
		return refused("write %s: %s", q.Path, reason(err))
	}
	return Response{OK: true, Created: p.info == nil, Changes: append(made.keep(), p.changed(before, q.Content)...)}
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
	at, n := occurrences(text, q.OldText)
	switch {
	case n == 0:
		return refused("edit %s: old_text not found — the file may have changed; read it again", q.Path)
	case n > 1:
		return refused("edit %s: old_text occurs %d times; include more context so it is unique", q.Path, n)
	}
	changed := text[:at] + q.NewText + text[at+len(q.OldText):]
	if err := p.replace(changed, t.policy.MaxTransfer); err != nil {
		return refused("edit %s: %s", q.Path, reason(err))
	}
	line, diff := hunk(text, at, q.OldText, q.NewText)
	return Response{OK: true, Line: line, Diff: diff, Changes: p.changed(store.RefOf([]byte(text)), changed)}
}

// occurrences counts where a text that is not empty occurs, those that overlap too,
// in time linear in both (Knuth, Morris and Pratt), and returns the first place.
func occurrences(text, old string) (first, n int) {
	// border[i]: how much of old ends old[:i+1] again, short of all of it.
	border := make([]int32, len(old))
	step := func(matched int32, c byte) int32 {
		for matched > 0 && old[matched] != c {
			matched = border[matched-1]
		}
		if old[matched] == c {
			matched++
		}
		return matched
	}
	for i := 1; i < len(old); i++ {
		border[i] = step(border[i-1], old[i])
	}
	for i, matched := max(strings.Index(text, old), 0), int32(0); i < len(text); i++ {
		if matched = step(matched, text[i]); int(matched) == len(old) {
			if n++; n == 1 {
				first = i + 1 - len(old)
			}
			matched = border[matched-1]
		}
	}
	return first, n
}

// changed tells of new content in a place, by hash, as a run tells of what it changed.
func (p place) changed(before store.Ref, content string) []overlay.Change {
	kind := overlay.Changed
	if p.info == nil {
		kind = overlay.Created
	}
	return []overlay.Change{{Path: p.path, Kind: kind, Before: before, After: store.RefOf([]byte(content))}}
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
