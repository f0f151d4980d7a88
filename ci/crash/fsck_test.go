package crash

import (
	"context"
	"testing"

	"world/store"
	"world/store/fsck"
)

// TestFsckBesideWriters checks a store over and over while eight callers of another
// process write to it: what is half done is no finding (D16), neither of a check of
// everything nor of that at start, and each sees more than the one before. make crash checks twenty times.
func TestFsckBesideWriters(t *testing.T) {
	build(t)
	runs := 4
	if *kills >= 1000 {
		runs = 20
	}
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			w := begin(t, engine, episodesEach)
			random := source(t.Name())
			p := start(t, w.busy("writer", 8, 2000, random, func() int { return random.IntN(episodesEach) }), "")
			<-p.ready
			var before fsck.Report
			for run := range runs {
				w.reading(func(ctx context.Context, s store.Store) {
					until(t, "the writers go on", func() bool {
						head, err := s.Head(ctx)
						ok(t, err)
						return head.Index > before.Entries+20
					})
					report, err := fsck.Run(ctx, s, fsck.Options{})
					ok(t, err)
					recent, err := fsck.Recent(ctx, s)
					ok(t, err)
					for _, f := range append(report.Findings, recent.Findings...) {
						t.Errorf("run %d: %s", run, f)
					}
					if report.Entries <= before.Entries {
						t.Errorf("run %d sees %d entries after %d", run, report.Entries, before.Entries)
					}
					before = report
				})
			}
			select {
			case <-p.ended:
				t.Error("the writers had ended before the last check")
			default:
			}
			ok(t, p.cmd.Process.Kill())
			if !p.killed() {
				t.Error("the writers ended by themselves")
			}
			w.hear(p.said())
			w.settle()
			t.Logf("%d runs, the last of %d objects and %d entries; %+v", runs, before.Objects, before.Entries, w.judge(nil))
		})
	}
}
