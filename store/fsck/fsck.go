// Package fsck re-derives a whole store from its raw bytes and says what does not
// agree (D16): object hashes, row digests, the chain and its head, what entries
// name, labels, decisions, spend, receipts, sessions and registry.
//
// It promises that a store written through package store and package record is
// clean, and that a change to what such a store reads back is named. It never
// repairs and never panics on damaged data. It does not call handlers and runs no
// transitions: that is replay. It reads every object once, works on every processor,
// and keeps some three hundred bytes a call and seventy an object in memory.
package fsck

import (
	"context"
	"errors"
	"fmt"

	"world/fault"
	"world/store"
	"world/store/record"
)

// Finding is one thing that does not agree.
type Finding struct {
	Where string // table and key, such as "log 17"
	What  string
}

func (f Finding) String() string { return f.Where + ": " + f.What }

// Report is what a run found, and how much it looked at.
type Report struct {
	Findings []Finding
	More     int64 // findings beyond Options.MaxFindings
	Broken   bool  // a finding is of chain, head or spend: nothing may be built on these
	Objects  int64
	Entries  int64
	Claims   int64
	Intents  int64
}

// Clean reports whether everything agreed.
func (r Report) Clean() bool { return len(r.Findings) == 0 }

// Options bounds a run.
type Options struct {
	// Progress is told now and then how many rows of a kind were visited.
	Progress func(kind string, rows int64)
	// MaxFindings is how many findings are kept, 1000 when 0. The rest is counted.
	MaxFindings int
}

// progressEvery is how many rows lie between two reports of progress.
const progressEvery = 10_000

// checker is the state of one run. Passes fill what later passes compare with.
type checker struct {
	ctx    context.Context
	from   store.Auditor
	audit  store.Audit
	look   store.Audit // where single objects are looked up
	opts   Options
	report Report

	known      sums // every stored object that went past
	complete   bool // all have
	doubts     []doubt
	named      named // by rows of the journal
	astray     bool  // one of those names is of nothing
	calls      calls
	spending   map[store.EpisodeID]*spending
	episodes   []store.EpisodeID    // that spent
	reconciled map[string]store.Ref // by intent name, as the rows have it
	latest     int64                // greatest time of any row
	commits    map[store.InvocationID]*commit
	acts       acts

	sessionsRead map[store.Ref]read[record.SessionRecord]
}

// Run audits a whole store. The error is for what stopped it; damage is in the
// report, also when it kept a table from being read to its end.
func Run(ctx context.Context, from store.Auditor, opts Options) (Report, error) {
	if opts.MaxFindings <= 0 {
		opts.MaxFindings = 1000
	}
	a, err := from.Audit(ctx)
	if err != nil {
		return Report{}, err
	}
	defer a.Close()
	c := &checker{
		ctx: ctx, from: from, audit: a, look: a, opts: opts,
		calls:      calls{places: map[store.InvocationID]int32{}},
		spending:   map[store.EpisodeID]*spending{},
		reconciled: map[string]store.Ref{},
		commits:    map[store.InvocationID]*commit{},
		acts:       newActs(),

		sessionsRead: map[store.Ref]read[record.SessionRecord]{},
	}
	engine := make(chan func() error, 1)
	go func() { engine <- c.engine() }()
	for _, pass := range []struct {
		name string
		run  func() error
	}{
		{"claims", c.claims}, {"intents", c.intents}, {"ledgers", c.ledgers}, {"leases", c.leases},
		{"objects", c.objects}, {"names", c.settle}, {"receipts", c.receipts},
		{"sessions", c.sessions}, {"registry", c.registries}, {"clock", c.clock},
		{"engine", func() error { return (<-engine)() }},
	} {
		err := pass.run()
		if err != nil && ctx.Err() == nil {
			c.find(pass.name, "cannot be read to its end: %s", why(err))
		}
	}
	if ctx.Err() != nil {
		return c.report, fault.Wrap("fsck: run", fault.Timeout, ctx.Err(), "the check was ended")
	}
	return c.report, nil
}

func (c *checker) find(where, what string, args ...any) {
	if len(c.report.Findings) >= c.opts.MaxFindings {
		c.report.More++
		return
	}
	c.report.Findings = append(c.report.Findings, Finding{where, fmt.Sprintf(what, args...)})
}

// breaks finds what makes chain, head or spend worthless.
func (c *checker) breaks(where, what string, args ...any) {
	c.report.Broken = true
	c.find(where, what, args...)
}

// why is an error's detail, which names no path, or its kind.
func why(err error) string {
	var e *fault.Error
	if errors.As(err, &e) && e.Detail != "" {
		return e.Detail
	}
	return fault.KindOf(err).String()
}

// whole counts a visited row, and reports whether it is whole.
func whole[T any](c *checker, kind string, count *int64, r store.Row[T]) bool {
	*count++
	if *count%progressEvery == 0 && c.opts.Progress != nil {
		c.opts.Progress(kind, *count)
	}
	switch {
	case r.Fault == nil:
		return true
	case kind == "log", kind == "ledgers":
		c.breaks(r.Where(), "%s", why(r.Fault))
	default:
		c.find(r.Where(), "%s", why(r.Fault))
	}
	return false
}

// place is something that can say where it is; few things are asked.
type place interface{ Where() string }

// engine runs the engine's own check, which shares nothing with the others, and
// returns what is to be said of it.
func (c *checker) engine() func() error {
	a, err := c.from.Audit(c.ctx)
	if err != nil {
		return func() error { return err }
	}
	defer a.Close()
	lines, err := a.Engine(c.ctx)
	return func() error {
		for _, l := range lines {
			c.find("engine", "%s", l)
		}
		return err
	}
}
