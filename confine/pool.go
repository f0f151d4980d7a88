package confine

import (
	"context"
	"slices"
	"sync"
	"time"

	"world/fault"
)

// pool keeps processes behind the fence that wait for the input of a run. Each
// serves one run and dies with it; who comes while none waits gets a fresh one, and
// whoever comes often finds more of them. What waits too long dies unused, because
// the fence around it was built from how the machine was then.
type pool struct {
	jail *Jail
	size int // processes that wait, all together

	mu      sync.Mutex
	kinds   map[kind]*shelf
	waiting int // on all shelves, those that are just being started included
	closed  bool
	timer   *time.Timer    // of the next sweep; nil: none
	starts  sync.WaitGroup // processes being started or taken down
}

func newPool(j *Jail, size int) *pool {
	return &pool{jail: j, size: size, kinds: map[kind]*shelf{}}
}

// run runs a spec in a process that waited for it, or in a fresh one.
func (p *pool) run(ctx context.Context, s Spec) (Result, error) {
	level := p.jail.reach.Level
	if err := p.jail.admit(level, s); err != nil {
		return Result{}, err
	}
	k, err := p.jail.kindOf(s)
	if err != nil {
		return Result{}, err
	}
	r := p.take(k, s)
	// The next process starts when this run is over and what it is part of most likely
	// is, so as not to slow it down.
	defer time.AfterFunc(breath, func() { p.fill(k) })
	if r == nil {
		return p.jail.runAt(ctx, level, s)
	}
	defer r.closeFiles()
	if s.shorten(ctx); s.Limits.Wall <= 0 || ctx.Err() != nil {
		r.discard()
		return Result{Level: level, Exit: -1, Bound: boundOf(ctx)}, nil
	}
	if err := r.begin(s); err != nil {
		r.discard()
		return p.jail.runAt(ctx, level, s)
	}
	result, err := r.watch(ctx)
	if fault.Is(err, fault.Unavailable) { // it died before it began, so nothing ran
		return p.jail.runAt(ctx, level, s)
	}
	return result, err
}

// take returns a process that waits for this kind of run, nil when there is none,
// and remembers the kind.
func (p *pool) take(k kind, s Spec) *run {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.kinds[k]
	if h == nil {
		s.Stdin = nil
		if !s.verb() {
			s.Args = nil
		}
		h = &shelf{spec: s}
		p.kinds[k] = h
	}
	h.used = time.Now()
	if len(h.ready) == 0 {
		h.deepen()
	}
	for len(h.ready) > 0 {
		r := h.ready[0]
		h.ready = h.ready[1:]
		p.waiting--
		if r.died() {
			continue
		}
		if !r.isUp() { // but nearer to it than a fresh one
			h.deepen()
		}
		return r
	}
	return nil
}

// fill starts what is missing of a kind, in the background.
func (p *pool) fill(k kind) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.kinds[k]
	if h == nil || p.closed {
		return
	}
	for len(h.ready)+h.starting < h.depth && p.room(h) {
		h.starting++
		p.waiting++
		p.starts.Go(func() { p.start(k, h) })
	}
	p.arm()
}

// room makes room for one more process, if need be at the cost of the kind that
// nobody has asked for the longest.
func (p *pool) room(favoured *shelf) bool {
	for p.waiting >= p.size {
		var oldest *shelf
		for _, h := range p.kinds {
			if h != favoured && len(h.ready) > 0 && (oldest == nil || h.used.Before(oldest.used)) {
				oldest = h
			}
		}
		if oldest == nil {
			return false
		}
		p.drop(oldest, 1)
	}
	return true
}

// drop ends the n oldest processes of a shelf.
func (p *pool) drop(h *shelf, n int) {
	for _, r := range h.ready[:n] {
		p.waiting--
		p.starts.Go(r.discard)
	}
	h.ready = slices.Delete(h.ready, 0, n)
}

// start brings up one process. One that cannot be started is not tried again until
// the next run of its kind, which says why.
func (p *pool) start(k kind, h *shelf) {
	s := h.spec
	s.User = p.jail.userOf(s)
	r := &run{level: p.jail.reach.Level, spec: s, waits: true}
	err := r.launch(p.jail)
	p.mu.Lock()
	defer p.mu.Unlock()
	h.starting--
	switch {
	case err != nil:
		p.waiting--
		r.closeFiles()
	case p.closed || p.kinds[k] != h:
		p.waiting--
		p.starts.Go(r.discard)
	default:
		h.ready = append(h.ready, r)
	}
}

// arm sees to it that what is too old is looked for.
func (p *pool) arm() {
	if p.timer == nil && len(p.kinds) > 0 {
		p.timer = time.AfterFunc(maxAge/4, p.sweep)
	}
}

// sweep ends what has waited too long, and forgets kinds that nobody asks for.
func (p *pool) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, h := range p.kinds {
		old := 0
		for old < len(h.ready) && time.Since(h.ready[old].began) > maxAge {
			old++
		}
		p.drop(h, old)
		h.depth = max(h.depth-1, 1)
		if len(h.ready)+h.starting == 0 && time.Since(h.used) > maxAge {
			delete(p.kinds, k)
		}
	}
	p.timer = nil
	if !p.closed {
		p.arm()
	}
}

// dismiss forgets the kinds of a worktree, and ends what waits for them.
func (p *pool) dismiss(worktree string) {
	var gone sync.WaitGroup
	p.mu.Lock()
	for k, h := range p.kinds {
		if h.spec.Worktree != worktree {
			continue
		}
		delete(p.kinds, k) // one that is just being started is ended when it has
		p.waiting -= len(h.ready)
		for _, r := range h.ready {
			gone.Go(r.discard)
		}
	}
	p.mu.Unlock()
	gone.Wait()
}

// close ends every process that waits, and returns when they are dead.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
	for _, h := range p.kinds {
		p.drop(h, len(h.ready))
	}
	p.mu.Unlock()
	p.starts.Wait()
}
