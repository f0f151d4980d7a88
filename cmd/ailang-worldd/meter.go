package main

import (
	"fmt"
	"io"
	"time"
)

// meter tells people how far a long verb is, and how fast it goes.
type meter struct {
	out   io.Writer
	verb  string
	kind  string
	began time.Time // of the kind
	start time.Time // of the verb
}

func newMeter(out io.Writer, verb string) *meter {
	return &meter{out: out, verb: verb, start: time.Now()}
}

// tell reports rows of a kind that are behind us. Kinds follow one another.
func (m *meter) tell(kind string, rows int64) {
	if kind != m.kind {
		if m.kind == "" {
			m.began = m.start
		} else {
			m.began = time.Now() // its first rows go unmeasured
		}
		m.kind = kind
		fmt.Fprintf(m.out, "%s: %d %s\n", m.verb, rows, kind)
		return
	}
	fmt.Fprintf(m.out, "%s: %d %s, %s\n", m.verb, rows, kind, rate(rows, time.Since(m.began)))
}

// total reports everything that the verb went through.
func (m *meter) total(what string, rows int64) {
	took := time.Since(m.start)
	fmt.Fprintf(m.out, "%s: %d %s in %s, %s\n", m.verb, rows, what, took.Round(time.Millisecond), rate(rows, took))
}

// rate is a speed in rows a second.
func rate(rows int64, took time.Duration) string {
	return fmt.Sprintf("%.0f/s", float64(rows)/max(took.Seconds(), 1e-9))
}
