package coordinator

import (
	"encoding/hex"
	"io"
	"time"

	"world/broker/law"
	"world/canon"
	"world/fault"
	"world/session"
	"world/store"
	"world/store/record"
)

const (
	// MaxInput is the largest canonical arguments object, in bytes.
	MaxInput = 1 << 20

	inputDepth = 32 // levels of nesting, with room for the phase input around
)

// Call is one request to run a transition.
type Call struct {
	Surface    store.Surface
	Transition store.TransitionID
	Task       string // idempotency key within surface and episode, by store.ParseTask; "" draws one, at least once
	Args       []byte // JSON object; made canonical here
}

// admitted is a call that its session may make.
type admitted struct {
	surface  store.Surface
	id       store.InvocationID
	live     session.Live
	registry store.Ref
	home     store.Ref // what the episode's head of home named, "" for nothing
	last     int64     // greatest logical time that the snapshot knew of, unix seconds
	taken    time.Time // when the snapshot was, by a clock of no other use
	drawn    bool      // the id is new: no call had it before
	desc     record.Descriptor
	declared []law.Triple
	args     canon.Value
	input    store.Object
}

// admit checks the form of a call (R1), then whether its session may make it (R2, R3).
func (c *Coordinator) admit(s *Snapshot, call Call) (*admitted, error) {
	const op = "coordinator: admit"
	if call.Surface != store.SurfaceMCP && call.Surface != store.SurfaceA2A {
		return nil, fault.New(op, fault.Invalid, "invalid call: surface")
	}
	task, err := c.task(call.Task)
	if err != nil {
		return nil, err
	}
	args, err := canon.Parse(call.Args, canon.Limits{Bytes: 2 * MaxInput, Depth: inputDepth})
	if err != nil {
		return nil, fault.Wrap(op, fault.KindOf(err), err, "invalid call: arguments: %s", fault.Public(err))
	}
	if args.Kind() != canon.Object {
		return nil, fault.New(op, fault.Invalid, "invalid call: arguments must be a JSON object")
	}
	input := args.Bytes()
	if len(input) > MaxInput {
		return nil, fault.New(op, fault.Limit, "invalid call: arguments are %d canonical bytes; the limit is %d", len(input), MaxInput)
	}
	desc, err := s.find(call.Transition)
	if err != nil {
		return nil, err
	}
	a := &admitted{
		surface: call.Surface, live: s.live, registry: s.registry.Ref, home: s.home, last: s.now, taken: s.taken, desc: desc, drawn: call.Task == "",
		id:   store.NewInvocationID(call.Surface, s.live.Record.Episode, task),
		args: args, input: store.NewObject(record.Input, provenance(call.Surface), input),
	}
	for _, t := range desc.DeclaredEffects {
		a.declared = append(a.declared, t.Law())
	}
	return a, nil
}

// task checks a caller's task id, or draws one.
func (c *Coordinator) task(given string) (string, error) {
	const op = "coordinator: admit"
	if given == "" {
		random := make([]byte, 16)
		if _, err := io.ReadFull(c.Random, random); err != nil {
			return "", fault.Wrap(op, fault.Internal, err, "no task id could be drawn")
		}
		return hex.EncodeToString(random), nil
	}
	if _, err := store.ParseTask(given); err != nil {
		return "", fault.Wrap(op, fault.Invalid, err, "invalid call: a task id is 1 to 128 bytes of A-Z a-z 0-9 . _ -")
	}
	return given, nil
}

// provenance labels the coordinator's objects and entries.
func provenance(surface store.Surface) string { return "coordinator:" + string(surface) }

// effectful reports whether the call can have an effect at all.
func (a *admitted) effectful() bool { return len(a.declared) > 0 }

// episode returns the episode of the call.
func (a *admitted) episode() store.EpisodeID { return a.live.Record.Episode }

// claim takes the call's id at now (logical unix seconds).
func (a *admitted) claim(now int64) store.Claim {
	return store.Claim{
		Invocation: a.id, Episode: a.episode(), Transition: a.desc.ID, TransitionFn: a.desc.TransitionFn,
		Input: a.input.Ref(), Session: a.live.Object, At: now,
	}
}
