package why

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"world/fault"
	"world/store"
)

// Step is one piece of evidence on the way.
type Step struct {
	Part  string    `json:"part"`  // what the piece is to the one before, such as "input"
	Ref   store.Ref `json:"ref"`   // its content address or hash, "" for a row
	Bytes int       `json:"bytes"` // size of the object, 0 for what is no object
	Says  string    `json:"says"`  // one line about its content
	Fault string    `json:"fault"` // why the link to it is broken, "" when it holds
}

// Trail is a whole walk.
type Trail struct {
	Target string `json:"target"`
	Steps  []Step `json:"steps"`
	Holds  bool   `json:"holds"` // no step is broken
}

// maxSays bounds a line about content, in runes.
const maxSays = 160

// walker collects steps. It goes on after a broken link and stops, with err, when
// the store cannot be read.
type walker struct {
	ctx   context.Context
	r     store.Reader
	steps []Step
	err   error
}

func (w *walker) add(s Step) { w.steps = append(w.steps, s) }

// fail takes an error of the store: it breaks the step when it is about the
// evidence, and ends the walk otherwise.
func (w *walker) fail(part string, ref store.Ref, err error) {
	switch fault.KindOf(err) {
	case fault.NotFound:
		w.add(Step{Part: part, Ref: ref, Fault: "missing"})
	case fault.Corrupt, fault.Invalid:
		w.add(Step{Part: part, Ref: ref, Fault: fault.Public(err)})
	default:
		w.err = err
	}
}

// object reads, re-hashes and describes an object. says may refuse its content.
func (w *walker) object(part string, ref store.Ref, says func(bytes []byte) (string, error)) {
	if w.err != nil {
		return
	}
	o, err := w.r.Object(w.ctx, ref)
	if err != nil {
		w.fail(part, ref, err)
		return
	}
	line, err := says(o.Bytes())
	s := Step{Part: part, Ref: ref, Bytes: len(o.Bytes()), Says: line}
	if err != nil {
		s.Fault = fault.Public(err)
	}
	w.add(s)
}

// decoded is object for evidence that has a record type.
func decoded[T any](w *walker, part string, ref store.Ref, decode func([]byte) (T, error), says func(T) (string, error)) (v T, ok bool) {
	w.object(part, ref, func(raw []byte) (string, error) {
		var err error
		if v, err = decode(raw); err != nil {
			return "", err
		}
		line, err := says(v)
		ok = true // readable, even when it does not fit
		return line, err
	})
	return v, ok
}

// raw describes bytes as text, cut and harmless to a terminal.
func raw(b []byte) (string, error) { return shown(string(b[:min(len(b), 4*maxSays)])), nil }

// shown puts text into one line in which nothing is hidden: what a terminal obeys,
// or does not show, stands as its number.
func shown(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case r != ' ' && !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	s = b.String()
	if runes := []rune(s); len(runes) > maxSays {
		return string(runes[:maxSays]) + "…"
	}
	return s
}

// differs names two ends of a link that do not meet.
func differs(what string, got, want any) error {
	if got == want {
		return nil
	}
	return fault.New("why: walk", fault.Corrupt, "%s is %v, but %v was expected", what, got, want)
}

func sprintf(format string, args ...any) string { return shown(fmt.Sprintf(format, args...)) }
