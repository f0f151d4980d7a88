package fsck

import (
	"context"
	"errors"

	"world/store"
)

const (
	linksRead  = 256 // that are handed over together
	pagesAhead = 4   // that are read before they are asked for
)

// link is an entry with what it should be behind the one before it.
type link struct {
	row    store.Row[store.Entry]
	before store.Head
	want   store.Entry
}

// links reads the log on a goroutine of its own, which alone uses its audit until
// the log's end or stop, and computes the chain there.
type links struct {
	pages chan []link
	quit  chan struct{}
	page  []link // what is left of the page that was handed over last
	err   error  // why the log ended before its end; once pages is closed
}

var errStopped = errors.New("nobody reads on")

func readLinks(ctx context.Context, a store.Audit) *links {
	l := &links{pages: make(chan []link, pagesAhead), quit: make(chan struct{})}
	go func() {
		defer close(l.pages)
		before, page := store.Void, []link(nil)
		send := func() error {
			select {
			case l.pages <- page:
				page = make([]link, 0, linksRead)
				return nil
			case <-l.quit:
				return errStopped
			}
		}
		l.err = a.Entries(ctx, func(r store.Row[store.Entry]) error {
			page = append(page, link{r, before, chained(before, r.Value)})
			before = r.Value.Head()
			if len(page) < linksRead {
				return nil
			}
			return send()
		})
		if len(page) > 0 {
			send()
		}
	}()
	return l
}

// next is the next entry, nil when there is none or err kept it from being read.
func (l *links) next() *link {
	for len(l.page) == 0 {
		page, more := <-l.pages
		if !more {
			return nil
		}
		l.page = page
	}
	first := &l.page[0]
	l.page = l.page[1:]
	return first
}

// stop returns when the audit is free for others.
func (l *links) stop() {
	close(l.quit)
	for range l.pages {
	}
}

// chained is an entry as it would stand behind a head.
func chained(before store.Head, e store.Entry) store.Entry {
	return store.Chain(before, store.Draft{
		SemanticsEpoch: e.SemanticsEpoch, TransitionFn: e.TransitionFn, Interpreter: e.Interpreter,
		WrittenBy: e.WrittenBy, Transition: e.Transition, StateRoot: e.StateRoot,
	}, e.Invocation)
}
