package fsck_test

import (
	"strings"
	"testing"

	"world/store"
	"world/store/record"
)

// end closes an episode in the store and lets its record say what edit makes of the truth.
func (w *world) end(name store.EpisodeID, edit func(*record.EndingRecord)) {
	w.t.Helper()
	running, err := w.Lease(w.ctx, name)
	w.ok(err)
	w.ok(w.GiveUp(w.ctx, running)) // what runs is unknown from now on
	lease, err := w.Lease(w.ctx, name)
	w.ok(err)
	r := record.EndingRecord{Episode: name, Spent: []record.SpentOn{}, Worktree: record.NoWorktree, By: "operator", At: w.now}
	ledger, err := w.Ledger(w.ctx, name)
	w.ok(err)
	for _, s := range ledger.Spent {
		r.Spent = append(r.Spent, record.SpentOn(s))
	}
	edit(&r)
	o := w.object(record.Ending, r.Bytes())
	w.act(o, store.EndEpisode{Episode: name, Ending: o.Ref(), Next: ledger.Next, Lease: lease})
}

func asItIs(*record.EndingRecord) {}

// TestEnds holds the ends of episodes to the log: the store refuses most of these,
// so they are written as a forger of the log would, who cannot be refused.
func TestEnds(t *testing.T) {
	for _, tt := range []struct {
		name  string
		want  string // "" for a clean store
		write func(*world)
	}{
		{"an end", "", func(w *world) { w.end(episode, asItIs) }},
		{"an end of nothing", "", func(w *world) { w.end("ep-unknown", asItIs) }},
		{"another spend", "the intents sum to", func(w *world) {
			w.end(episode, func(r *record.EndingRecord) { r.Spent[0].Total++ })
		}},
		{"an end without a row", "world/end/ep-1 is missing", func(w *world) {
			r := record.EndingRecord{Episode: episode, Spent: []record.SpentOn{}, Worktree: record.NoWorktree}
			w.act(w.object(record.Ending, r.Bytes()))
		}},
		{"a row of another end", "the log has no such end", func(w *world) {
			w.end(episode, func(r *record.EndingRecord) { r.Episode = "ep-2" })
		}},
		{"a second end", "a second time", func(w *world) {
			w.end(episode, asItIs)
			r := record.EndingRecord{Episode: episode, Spent: []record.SpentOn{}, Worktree: record.NoWorktree, By: "again"}
			w.act(w.object(record.Ending, r.Bytes()))
		}},
		{"a mint after the end", "which has ended", func(w *world) {
			w.end(episode, asItIs)
			r := w.minted
			r.Credential = store.CredentialID(strings.Repeat("c", 64))
			w.act(w.object(record.Session, r.Bytes()))
		}},
		{"an end beside a live session", "is not revoked", func(w *world) {
			r := w.minted
			r.Credential = store.CredentialID(strings.Repeat("c", 64))
			w.act(w.object(record.Session, r.Bytes()))
			w.end(episode, asItIs)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.populate()
			for _, id := range w.live() {
				w.revoke(id)
			}
			tt.write(w)
			r := run(t, w)
			told := ""
			for _, f := range r.Findings {
				told += f.String() + "\n"
			}
			if r.Clean() != (tt.want == "") || !strings.Contains(told, tt.want) {
				t.Errorf("found %q, want %q", told, tt.want)
			}
		})
	}
}

// live lists the sessions of the episode that are not revoked.
func (w *world) live() (ids []store.CredentialID) {
	w.t.Helper()
	all, err := w.Sessions(w.ctx, "", store.MaxListing)
	w.ok(err)
	for _, s := range all {
		if s.Episode == episode && s.Revocation == "" {
			ids = append(ids, s.Credential)
		}
	}
	return ids
}
