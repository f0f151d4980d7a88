package trace

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"world/broker/law"
	"world/store"
	"world/store/handover"
	"world/store/record"
)

// index is a journal by what it is looked up by.
type index struct {
	journal  handover.Journal
	claims   map[store.InvocationID]store.Claim
	intents  map[store.EpisodeID][]store.Intent
	byCall   map[store.InvocationID]store.Intent
	sessions map[string]store.Session // by object
	leases   map[store.EpisodeID]int64
	spent    map[store.EpisodeID]map[Key]int64
	read     map[store.Ref]bool // session objects that are session records
}

func newIndex(j handover.Journal) *index {
	x := &index{j, map[store.InvocationID]store.Claim{}, map[store.EpisodeID][]store.Intent{}, map[store.InvocationID]store.Intent{},
		map[string]store.Session{}, map[store.EpisodeID]int64{}, map[store.EpisodeID]map[Key]int64{}, map[store.Ref]bool{}}
	for _, c := range j.Claims {
		x.claims[c.Invocation] = c
	}
	for _, i := range j.Intents {
		x.intents[i.Episode] = append(x.intents[i.Episode], i)
		x.byCall[i.Invocation] = i
	}
	for _, s := range j.Sessions {
		x.sessions[string(s.Object)] = s
		_, x.read[s.Object] = x.session(s.Object)
	}
	for _, l := range j.Leases {
		x.leases[l.Episode] = l.Epoch
	}
	for _, l := range j.Ledgers {
		x.spent[l.Episode] = map[Key]int64{}
		for _, s := range l.Spent {
			x.spent[l.Episode][Key{s.Effect, s.Scope}] = s.Total
		}
	}
	return x
}

func (x *index) episodes() []store.EpisodeID {
	all := map[store.EpisodeID]bool{}
	for e := range x.intents {
		all[e] = true
	}
	for e := range x.spent {
		all[e] = true
	}
	for _, s := range x.sessions {
		all[s.Episode] = true
	}
	for _, c := range x.claims {
		all[c.Episode] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// evidence decodes an object of a semantic id.
func evidence[T any](x *index, ref store.Ref, id string, decode func([]byte) (T, error)) (T, bool) {
	var none T
	e, ok := x.journal.Evidence[ref]
	if !ok || e.SemanticID != id {
		return none, false
	}
	v, err := decode(e.Bytes)
	return v, err == nil
}

func (x *index) session(ref store.Ref) (record.SessionRecord, bool) {
	return evidence(x, ref, record.Session, record.DecodeSession)
}

// log takes the entries in their order.
func (w *walk) log() {
	for _, e := range w.journal.Entries {
		where := fmt.Sprintf("log %d", e.Index)
		switch {
		case e.Invocation != "":
			w.call(where, e)
		default:
			w.act(where, e)
		}
	}
}

// act takes what the host did: mint, revoke, reconcile.
func (w *walk) act(where string, e store.Entry) {
	if s, ok := w.session(e.Transition); ok && s.Episode == w.episode {
		for _, g := range s.Law() {
			w.step(where, Event{Kind: Mint, Held: Held{string(e.Transition), g}})
		}
		return
	}
	if r, ok := evidence(w.index, e.Transition, record.Revocation, record.DecodeRevocation); ok {
		if s, ok := w.session(r.Session); ok && s.Episode == w.episode {
			w.before(r.Session)
			w.step(where, Event{Kind: Revoke, Session: string(r.Session)})
		}
		return
	}
	if r, ok := evidence(w.index, e.Transition, record.Reconciliation, record.DecodeReconciliation); ok {
		if episode, ordinal, err := store.ParseIntentName(r.Intent); err == nil && episode == w.episode {
			w.reconcile(where, r.Intent, ordinal)
		}
	}
}

// before takes the intents of a session, which were written while it was live.
func (w *walk) before(session store.Ref) {
	for _, i := range w.rows[w.next:] {
		if c, ok := w.claims[i.Invocation]; ok && c.Session == session {
			w.write(i.Ordinal + 1)
		}
	}
}

// reconcile takes an operator's word. Whoever closes an open intent holds a later
// lease than the one it was written under.
func (w *walk) reconcile(where, name string, ordinal int64) {
	w.write(ordinal + 1)
	i := slices.IndexFunc(w.rows, func(i store.Intent) bool { return i.Ordinal == ordinal })
	if i < 0 {
		w.find("%s: it reconciles %s, which is not there", where, name)
		return
	}
	id := string(w.rows[i].Invocation)
	if w.state.Life[id].open() && w.state.Made[id] == w.state.Epoch && w.leases[w.episode] > w.state.Epoch {
		w.reach(where, w.state.Epoch+1)
	}
	w.step(where, Event{Kind: Reconcile, Under: w.state.Epoch, ID: id})
}

// assumedWord takes a word whose object is no reconciliation record: the suites of
// stores write such ones, and no entry tells of them.
func (w *walk) assumedWord(i store.Intent) {
	if _, ok := evidence(w.index, i.Reconciled, record.Reconciliation, record.DecodeReconciliation); i.Reconciled != "" && !ok {
		w.report.Assumed++
		w.reconcile("intent "+i.Name(), i.Name(), i.Ordinal)
	}
}

// call takes what came of a call: denials, and the outcome of its intent.
func (w *walk) call(where string, e store.Entry) {
	if c, ok := w.claims[e.Invocation]; !ok || c.Episode != w.episode {
		return
	}
	r, ok := evidence(w.index, e.Transition, record.Invocation, record.DecodeInvocation)
	if !ok || record.IsCommit(e) { // a commit's entry is the client's own; others hold no record at all
		if i, ok := w.byCall[e.Invocation]; ok {
			w.finish(where, e.Invocation, i.Outcome.Status != store.StatusIndeterminate)
		}
		return
	}
	for _, x := range r.Effects {
		if x.Status == record.StatusDenied {
			w.write(r.Ordinal)
			w.denied(where, r, x)
			continue
		}
		w.finish(where, e.Invocation, x.Status != record.StatusIndeterminate)
	}
}

// denied takes a denial: no grant of the session allows what was asked.
func (w *walk) denied(where string, r record.InvocationRecord, x record.EffectOutcome) {
	s, ok := w.session(r.Session)
	q, known := evidence(w.index, x.Request, record.Request, record.DecodeRequest)
	if !ok || !known {
		return
	}
	for _, g := range s.Law() {
		w.step(where, Event{Kind: Deny, Held: Held{string(r.Session), g}, Asked: q.Law()})
	}
}

// finish takes the outcome of a call's intent. Its handler ran before, if at all:
// the model allows both, and no row tells.
func (w *walk) finish(where string, id store.InvocationID, known bool) {
	i, ok := w.byCall[id]
	if ok {
		w.write(i.Ordinal + 1)
		if run := (Event{Kind: Run, Under: i.Epoch, ID: string(id)}); w.state.May(run) {
			w.step(where, run)
		}
	}
	w.step(where, Event{Kind: Finish, Under: i.Epoch, ID: string(id), Known: known})
}

// held is the grant that an intent was decided on. A session without a record is
// taken to have granted it: the suites of stores write such ones.
func (w *walk) held(c store.Claim, i store.Intent) Held {
	s, recorded := w.session(c.Session)
	for _, g := range s.Law() {
		if g.Effect == i.Effect && g.Scope == i.Scope {
			return Held{string(c.Session), g}
		}
	}
	h := Held{string(c.Session), law.Grant{Effect: i.Effect, Scope: i.Scope, ExpiresAt: math.MaxInt64, Budget: math.MaxInt64}}
	if !recorded {
		w.report.Assumed++
		w.state.After(Event{Kind: Mint, Held: h})
	}
	return h
}

func asked(i store.Intent) law.Request {
	return law.Request{Effect: i.Effect, Scope: i.Scope, Cost: i.Cost, Now: i.At}
}
