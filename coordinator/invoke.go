package coordinator

import (
	"context"
	"time"

	"world/canon"
	"world/coordinator/plan"
	"world/fault"
	"world/fault/stop"
	"world/session"
	"world/store"
	"world/store/record"
)

// Invoke runs one call to its end and returns when that is recorded.
//
// A Reply is the recorded answer of a call, failed or not. An error means that no
// answer is recorded: Invalid, Limit and NotFound refuse the call as it is;
// Conflict and InFlight are about its id; Unauthenticated, that its session ended;
// Timeout, that ctx ended before anything was done; Indeterminate, that an effect
// may have happened; anything else, that a part failed and nothing was done.
//
// Once an effect's intent is durable, the end of ctx no longer matters, and Invoke
// still returns only when the call has ended.
func (c *Coordinator) Invoke(ctx context.Context, s *Snapshot, call Call) (Reply, error) {
	c.calls.Add(1)
	defer c.calls.Done()
	a, err := c.admit(s, call)
	if err != nil {
		return Reply{}, err
	}
	land, err := c.flights.board(ctx, a)
	if err != nil {
		return Reply{}, err
	}
	defer land()
	if !a.drawn {
		if reply, err := c.earlier(ctx, a); reply != nil || err != nil {
			return deref(reply), err
		}
	}
	if a.effectful() {
		reply, err := c.effectful(ctx, a)
		if err == nil {
			stop.At(stop.BeforeReply)
		}
		return reply, err
	}
	return c.pure(ctx, a)
}

// effectful runs a call that may have an effect: in its episode's turn, under the
// lease, at a time taken then.
func (c *Coordinator) effectful(ctx context.Context, a *admitted) (Reply, error) {
	leave, err := c.episodes.wait(ctx, a.episode())
	if err != nil {
		return Reply{}, err
	}
	defer leave()
	return c.retaking(ctx, func() (Reply, error) { return c.turn(ctx, a) })
}

// retakings is how often a call takes its episode's lease at most, when another
// daemon gets it while the call plans.
const retakings = 8

// retaking runs a call again that has lost its lease before anything was done.
func (c *Coordinator) retaking(ctx context.Context, call func() (Reply, error)) (reply Reply, err error) {
	for range retakings {
		if reply, err = call(); !fault.Is(err, fault.LeaseLost) || ctx.Err() != nil {
			break
		}
	}
	return reply, err
}

// turn runs an effectful call once its turn has come.
func (c *Coordinator) turn(ctx context.Context, a *admitted) (Reply, error) {
	k, err := c.ready(ctx, a)
	if err != nil {
		return Reply{}, err
	}
	defer func() {
		// Also when a broken invariant panics: an intent that is left open must
		// not look as if it were running.
		if k.open {
			c.abandon(ctx, k.lease)
		}
	}()
	body, failure, err := k.perform(ctx)
	if err != nil {
		return k.refused(ctx, err)
	}
	return k.commit(ctx, body, failure)
}

// ready gives a call whose turn has come what its decision rests on. It takes no
// lease away from the episode's home, and looks again once it has the lease.
func (c *Coordinator) ready(ctx context.Context, a *admitted) (k *course, err error) {
	k = &course{c: c, admitted: a}
	if err = c.atHome(ctx, a.episode(), a.home); err != nil {
		return nil, err
	}
	if k.lease, err = c.lease(ctx, a.episode()); err != nil {
		return nil, err
	}
	if time.Since(a.taken) < c.Deadlines.Fresh {
		// That the session was not revoked since is a condition of the intent.
		k.now = max(c.Clock().Unix(), a.last, c.recorded.Load())
		k.ledger, err = c.Store.Ledger(ctx, a.episode())
	} else {
		err = k.again(ctx)
	}
	if err != nil {
		return nil, err
	}
	k.claim = a.claim(k.now)
	return k, nil
}

// again looks again, for a call that waited for its turn.
func (k *course) again(ctx context.Context) error {
	found, err := k.moment(ctx, store.Lookup{Registries: []string{record.HomeName(k.episode())}, Ledger: k.episode()})
	if err != nil {
		return err
	}
	k.ledger = found.Ledger
	return k.c.atHome(ctx, k.episode(), found.Registries[0])
}

// pure runs a call of a transition that declares no effect: once, with its
// arguments as they are.
func (c *Coordinator) pure(ctx context.Context, a *admitted) (Reply, error) {
	k := &course{c: c, admitted: a}
	if _, err := k.moment(ctx, store.Lookup{}); err != nil {
		return Reply{}, err
	}
	if a.live.Expired(k.now) {
		return Reply{}, session.ErrExpired
	}
	k.claim = a.claim(k.now)
	source, err := k.source(ctx)
	if err != nil {
		return Reply{}, err
	}
	answer, failure, err := k.phase(ctx, "run", c.Deadlines.Plan, source, a.input.Bytes())
	if err != nil {
		return Reply{}, err
	}
	var body canon.Value
	if failure == nil {
		body, failure = plan.PureBody(answer)
	}
	return k.commit(ctx, body, failure)
}

// moment takes the logical time of a call and checks that its session was not
// revoked meanwhile, beside reading what else is asked for. An expiry is left to
// the law, so that it is recorded (D4).
func (k *course) moment(ctx context.Context, what store.Lookup) (store.Looked, error) {
	what.Session = k.live.Credential
	found, err := k.c.Store.Look(ctx, what)
	if err != nil {
		return found, err
	}
	k.now = max(k.c.Clock().Unix(), found.At)
	return found, k.live.Still(found.Session)
}

// refused answers a call of which nothing was recorded. One whose session ended
// meanwhile hears what it would have heard a moment later. An id that another
// process took meanwhile has its answer there.
func (k *course) refused(ctx context.Context, err error) (Reply, error) {
	if fault.Is(err, fault.Unauthenticated) {
		return Reply{}, session.ErrUnknown
	}
	if !fault.Is(err, fault.Conflict) {
		return Reply{}, err
	}
	reply, earlierErr := k.c.earlier(ctx, k.admitted)
	if reply == nil && earlierErr == nil {
		return Reply{}, err
	}
	return deref(reply), earlierErr
}

func deref(r *Reply) Reply {
	if r == nil {
		return Reply{}
	}
	return *r
}

// planRef is the plan's ref, "" when none came to be.
func (k *course) planRef() store.Ref {
	if k.planned == nil {
		return ""
	}
	return k.planned.Ref()
}
