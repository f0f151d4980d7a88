package replay

import (
	"context"

	"world/broker/law"
	"world/canon"
	"world/coordinator/capsule"
	"world/coordinator/evidence"
	"world/coordinator/plan"
	"world/coordinator/registry"
	"world/fault"
	"world/store"
	"world/store/record"
)

// attempt is one call being made again.
type attempt struct {
	*Replayer
	evidence.Call
	source   []byte
	args     canon.Value
	declared []law.Triple
	derived  record.InvocationRecord // the record that follows from the evidence
	ended    []plan.Ended
	machine  bool // a phase ended by a limit of this machine
}

// again makes a call again and returns nil when everything agrees.
func (p *Replayer) again(ctx context.Context, call evidence.Call) error {
	a := &attempt{Replayer: p, Call: call, derived: call.Record}
	if call.Record.Failure == fault.Unsupported.String() {
		return unreplayable(Handlers)
	}
	for _, step := range []func(context.Context) error{a.entry, a.claim, a.descriptor, a.load, a.outcome} {
		if err := step(ctx); err != nil {
			return a.excuse(err)
		}
	}
	return nil
}

// excuse tells a divergence that comes from a limit of time or memory, when the
// call was made or now, apart from one of the evidence.
func (a *attempt) excuse(err error) error {
	if d, ok := err.(divergence); ok && (d.position == AtPlan || d.position == AtOutput) {
		if kind, failed := fault.ParseKind(a.Record.Failure); a.machine || failed && ofMachine(kind) {
			return unreplayable(Machine)
		}
	}
	return err
}

func ofMachine(kind fault.Kind) bool {
	switch kind {
	case fault.Timeout, fault.Limit, fault.Unavailable, fault.Internal, fault.Corrupt:
		return true
	}
	return false
}

// entry holds the log entry to the record that it names.
func (a *attempt) entry(context.Context) error {
	e, r := a.Entry, a.Record
	return first(
		same(AtEntry, "hash", e.Hash, e.ComputeHash()),
		same(AtEntry, "invocation", e.Invocation, r.InvocationID),
		same(AtEntry, "transitionFn", e.TransitionFn, r.TransitionFn),
		same(AtEntry, "interpreter", e.Interpreter, r.Interpreter),
		same(AtEntry, "semanticsEpoch", decimal(e.SemanticsEpoch), decimal(r.SemanticsEpoch)),
		same(AtEntry, "stateRoot", e.StateRoot, r.Output),
		same(AtEntry, "episode", a.Session.Episode, r.EpisodeID),
	)
}

// claim holds the claim to the record.
func (a *attempt) claim(ctx context.Context) error {
	c, err := a.Store.Claim(ctx, a.Record.InvocationID)
	if err != nil {
		return absent("replay: claim", err, "claim of %s", a.Record.InvocationID)
	}
	r := a.Record
	return first(
		same(AtClaim, "episode", c.Episode, r.EpisodeID),
		same(AtClaim, "transition", c.Transition, r.SkillID),
		same(AtClaim, "transitionFn", c.TransitionFn, r.TransitionFn),
		same(AtClaim, "input", c.Input, r.Input),
		same(AtClaim, "session", c.Session, r.Session),
		same(AtClaim, "time", decimal(c.At), decimal(r.Now)),
	)
}

// descriptor finds the transition in the registry revision that admitted the
// call, and asks the law whether the session could see it at all. It could only
// while it lived, so its first second stands for the moment of admission, which
// is not recorded.
func (a *attempt) descriptor(ctx context.Context) error {
	revision, err := registry.Read(ctx, a.Store, a.Record.Registry)
	if err != nil {
		return err
	}
	d, ok := revision.Find(a.Record.SkillID)
	if !ok {
		return divergence{AtDescriptor, string(a.Record.SkillID), "no such transition in revision " + string(revision.Ref)}
	}
	for _, t := range d.DeclaredEffects {
		a.declared = append(a.declared, t.Law())
	}
	q := law.Request{Effect: d.Access.Effect, Scope: d.Access.Scope, Cost: d.Access.Cost, Now: a.Session.CreatedAt}
	return first(
		same(AtDescriptor, "transitionFn", a.Record.TransitionFn, d.TransitionFn),
		same(AtDescriptor, "interpreter", a.Record.Interpreter, d.Interpreter),
		same(AtDescriptor, "semanticsEpoch", decimal(a.Record.SemanticsEpoch), decimal(d.SemanticsEpoch)),
		same(AtAdmission, "access", law.Allowed.Label(), law.Decide(a.Session.Law(), q).Verdict.Label()),
	)
}

// load reads the source and the arguments.
func (a *attempt) load(ctx context.Context) error {
	source, err := a.Store.Object(ctx, a.Record.TransitionFn)
	if err != nil {
		return absent("replay: source", err, "source %s", a.Record.TransitionFn)
	}
	a.source = source.Bytes()
	if a.args, err = canon.Parse(a.Input, canon.Limits{}); err != nil {
		return fault.Wrap("replay: input", fault.Corrupt, err, "input %s", a.Record.Input)
	}
	return same(AtEvidence, "input", string(a.Input), string(a.args.Bytes()))
}

// run runs the transition in the archived interpreter, or in today's on request.
func (a *attempt) run(ctx context.Context, input []byte) ([]byte, error) {
	program := capsule.Program{Interpreter: a.Record.Interpreter, Source: a.source}
	if a.Current != "" {
		program.Interpreter = a.Current
	}
	answer, err := a.Runner.Run(ctx, program, input)
	switch kind := fault.KindOf(err); {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil:
		return nil, err
	case kind == fault.Unavailable, kind == fault.Corrupt:
		return nil, unreplayable(InterpreterAbsent)
	default:
		a.machine = a.machine || ofMachine(kind)
		return nil, plan.PhaseFailure(err)
	}
}

// outcome makes the call's answer again and compares it and the whole record.
func (a *attempt) outcome(ctx context.Context) error {
	a.derived.Plan, a.derived.Effects, a.derived.Failure, a.derived.Output = "", nil, "", ""
	body, failure, err := a.perform(ctx)
	if err != nil {
		return err
	}
	output, kind := plan.Conclude(body, failure, plan.World(a.ended, a.derived.Plan))
	a.derived.Failure, a.derived.Output = kind, store.RefOf(output)
	return first(
		same(AtOutput, "output", string(a.Output), string(output)),
		same(AtRecord, "record", string(a.Record.Bytes()), string(a.derived.Bytes())),
	)
}
