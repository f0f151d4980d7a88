package coordinator

import (
	"context"

	"world/broker"
	"world/broker/law"
	"world/coordinator/registry"
	"world/fault"
	"world/session"
	"world/store"
	"world/store/record"
)

// ClientCommit is a log entry that a client computed and brings with its objects (D21).
type ClientCommit struct {
	Task    string // idempotency key by store.ParseTask; "" draws one, at least once
	Record  record.CommitRecord
	Objects []store.Object // those of Record.Objects, in its order
}

// Commit appends a client's entry to the log, as one effect that the session's
// grants decide: the intent is durable before, and the entry comes into the log
// with the effect's outcome or not at all. Nothing of a commit that is denied, or
// whose head has moved, is stored but its record.
//
// A Reply is the recorded answer: its Entry is the client's own, or, when Failed,
// the one that tells of the denial (kind Denied) or of the head that moved while
// the commit was on its way (kind Failed). An error means as with Invoke; in
// addition, HeadMoved that the head was another before anything was done, and
// Uncertain that it is not known whether the commit landed: its receipt will tell.
func (c *Coordinator) Commit(ctx context.Context, live session.Live, commit ClientCommit) (Reply, error) {
	c.calls.Add(1)
	defer c.calls.Done()
	a, err := c.admitCommit(ctx, live, commit)
	if err != nil {
		return Reply{}, err
	}
	land, err := c.flights.board(ctx, a)
	if err != nil {
		return Reply{}, err
	}
	defer land()
	if reply, err := c.earlier(ctx, a); reply != nil || err != nil {
		return deref(reply), err
	}
	leave, err := c.episodes.wait(ctx, a.episode())
	if err != nil {
		return Reply{}, err
	}
	defer leave()
	return c.retaking(ctx, func() (Reply, error) {
		k, err := c.ready(ctx, a)
		if err != nil {
			return Reply{}, err
		}
		defer func() {
			if k.open {
				c.abandon(ctx, k.lease)
			}
		}()
		return k.clientCommit(ctx, commit)
	})
}

// admitCommit checks the form of a commit. The host's own text stands for a
// transition, because none runs.
func (c *Coordinator) admitCommit(ctx context.Context, live session.Live, commit ClientCommit) (*admitted, error) {
	const op = "coordinator: admit commit"
	task, err := c.task(commit.Task)
	if err != nil {
		return nil, err
	}
	if commit.Record.Episode != live.Record.Episode {
		return nil, fault.New(op, fault.Invalid, "the commit is of another episode than its session")
	}
	if err := commit.check(); err != nil {
		return nil, err
	}
	input := store.NewObject(record.Commit, provenance(store.SurfaceREST), commit.Record.Bytes())
	host, err := registry.HostDraft(ctx, c.Store, "rest-commit", input.Ref())
	if err != nil {
		return nil, err
	}
	found, err := c.Store.Look(ctx, store.Lookup{Registries: []string{record.RegistryName, record.HomeName(live.Record.Episode)}})
	if err != nil {
		return nil, err
	}
	if found.Registries[0] == "" {
		return nil, fault.New(op, fault.Unavailable, "no world is selected")
	}
	return &admitted{
		surface: store.SurfaceREST, id: store.CommitInvocation(task), live: live, registry: found.Registries[0], home: found.Registries[1],
		desc:     record.Descriptor{ID: record.CommitSkill, TransitionFn: host.TransitionFn, Interpreter: host.Interpreter},
		declared: []law.Triple{record.CommitTriple}, input: input,
	}, nil
}

// check holds the record, and that the objects are those it names.
func (m ClientCommit) check() error {
	if err := m.Record.Check(); err != nil {
		return err
	}
	if len(m.Objects) != len(m.Record.Objects) {
		return fault.New("coordinator: admit commit", fault.Invalid, "the commit names other objects than it brings")
	}
	for i, o := range m.Objects {
		named := m.Record.Objects[i]
		if o.Ref() != named.Hash {
			return fault.New("coordinator: admit commit", fault.Invalid, "objects[%d]: the payload hashes to %s", i, o.Ref())
		}
		if o.Label() != (store.Label{SemanticID: named.SemanticID, Provenance: record.CommitAuthor(m.Record.Episode)}) {
			return fault.New("coordinator: admit commit", fault.Invalid, "objects[%d] is not labelled as the commit names it", i)
		}
	}
	return nil
}

// clientCommit decides, opens the intent, and appends the entry.
func (k *course) clientCommit(ctx context.Context, commit ClientCommit) (Reply, error) {
	q := record.EffectRequest{
		Effect: record.CommitEffect, Scope: record.CommitScope, Cost: record.CommitCost,
		Now: k.now, Payload: commit.Record.Payload(),
	}
	if broker.Decide(k.live.Record, k.ledger, q).Verdict == law.Allowed {
		// A commit that cannot land is refused before it costs anything. A denial
		// is recorded whatever it asked for.
		if err := k.c.fits(ctx, commit); err != nil {
			return Reply{}, err
		}
	}
	invoker, err := k.c.broker.Bind(broker.Call{
		Session: k.live.Record, Claim: k.claim, Lease: k.lease, Ledger: k.ledger,
	}, k.declared)
	if err != nil {
		return Reply{}, err
	}
	opened, denied, err := invoker.Open(ctx, record.CommitTriple, q.Payload, k.input)
	k.open = opened != nil || denied.Intent != nil || fault.Is(err, fault.Uncertain)
	switch {
	case fault.Is(err, fault.Uncertain):
		return Reply{}, fault.Wrap("coordinator: commit", fault.Uncertain, err, "nothing was committed; whether the intent was recorded is not known, and its cost may stay spent")
	case err != nil:
		return k.refused(ctx, err)
	case opened == nil:
		return k.settle(ctx, denied)
	}
	return k.land(ctx, commit, opened)
}
