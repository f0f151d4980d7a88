package broker

import (
	"world/broker/law"
	"world/fault"
	"world/store"
	"world/store/record"
)

// Call is the call on whose behalf effects are asked for.
type Call struct {
	Session record.SessionRecord // minted grants
	Claim   store.Claim          // Claim.At is the logical time of every decision
	Lease   store.Lease          // of the call's episode
	Ledger  store.Ledger         // spend of the episode, read under the lease
}

// Invoker asks for effects on behalf of one call, and only for effects that its
// transition declares. It is not safe for concurrent use.
type Invoker struct {
	broker   *Broker
	call     Call
	declared []law.Triple
}

// Bind returns an invoker for a call (R4). Invalid when a declared triple is
// negative or listed twice, or when lease, ledger and session are not of one episode.
func (b *Broker) Bind(call Call, declared []law.Triple) (*Invoker, error) {
	const op = "broker: bind"
	for i, t := range declared {
		if t.Cost < 0 {
			return nil, fault.New(op, fault.Invalid, "declared effect %d has a negative cost", i)
		}
		if declares(declared[:i], t) {
			return nil, fault.New(op, fault.Invalid, "declared effect %d is listed twice", i)
		}
	}
	episode := call.Claim.Episode
	if call.Lease.Episode != episode || call.Ledger.Episode != episode || call.Session.Episode != episode {
		return nil, fault.New(op, fault.Invalid, "lease, ledger and session are not all of episode %s", episode)
	}
	return &Invoker{broker: b, call: call, declared: declared}, nil
}

// declares reports whether t equals a declared triple exactly. It repeats plan
// law L3 on purpose: the two checks share no code, so that one outlives the other.
func declares(declared []law.Triple, t law.Triple) bool {
	for _, d := range declared {
		if d.Effect == t.Effect && d.Scope == t.Scope && d.Cost == t.Cost {
			return true
		}
	}
	return false
}

// seeded returns the call's grants with their budgets less the durable spend (D3).
func seeded(session record.SessionRecord, ledger store.Ledger) []law.Grant {
	grants := session.Law()
	for i, g := range grants {
		grants[i].Budget = law.Seed(g.Budget, ledger.Of(g.Effect, g.Scope))
	}
	return grants
}

// Decide answers a request from evidence alone: minted grants, the spend before
// it, and its own time. The broker decides with it, and replay again.
func Decide(session record.SessionRecord, ledger store.Ledger, q record.EffectRequest) law.Decision {
	return law.Decide(seeded(session, ledger), q.Law())
}
