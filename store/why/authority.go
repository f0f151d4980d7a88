package why

import (
	"world/fault"
	"world/store"
	"world/store/record"
)

// session walks to a session object, of an episode when one is named.
func (w *walker) session(ref store.Ref, episode store.EpisodeID) (record.SessionRecord, bool) {
	return decoded(w, "session", ref, record.DecodeSession, func(r record.SessionRecord) (string, error) {
		line := sprintf("episode %s, %d grant(s), live from %d until %d", r.Episode, len(r.Grants), r.CreatedAt, r.ExpiresAt)
		if episode == "" {
			return line, nil
		}
		return line, differs("its episode", r.Episode, episode)
	})
}

// grant shows the grant that decided an effect, which must cover it when allowed.
func (w *walker) grant(r record.SessionRecord, o record.EffectOutcome, q record.EffectRequest) {
	if o.Grant < 0 {
		w.add(Step{Part: "grant", Says: sprintf("none names the effect %s", q.Effect)})
		return
	}
	if o.Grant >= len(r.Grants) {
		w.add(Step{Part: "grant", Fault: sprintf("the session has no grant %d", o.Grant)})
		return
	}
	g := r.Grants[o.Grant]
	s := Step{Part: "grant", Says: sprintf("grant %d: %s=%s:%d", o.Grant, g.Effect, g.Scope, g.Budget)}
	if o.Status != record.StatusDenied && (g.Effect != q.Effect || g.Scope != q.Scope) {
		s.Fault = "it does not cover the effect that it allowed"
	}
	w.add(s)
}

// mint walks to the entry that made a session.
func (w *walker) mint(ref store.Ref) {
	if w.err != nil {
		return
	}
	e, err := w.r.EntryAbout(w.ctx, ref)
	if fault.Is(err, fault.NotFound) {
		w.add(Step{Part: "mint", Fault: "no entry tells of this session's mint"})
		return
	}
	if err != nil {
		w.fail("mint", "", err)
		return
	}
	w.link("mint", e)
}
