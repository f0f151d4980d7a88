package attended_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"world/broker"
	"world/confine/confinetest"
	"world/coordinator"
	"world/coordinator/coordtest"
	"world/fault"
	"world/fault/await"
	"world/session"
	"world/session/attended"
	"world/session/worktree"
	"world/store"
	"world/store/fsck"
	"world/store/record"
	"world/store/why"
)

// episode is a world with an episode that has a worktree with a change in it and has
// spent one unit, and the desk to end it at.
func episode(t *testing.T, answer func(broker.Job) broker.Result) (*coordtest.World, session.Live, attended.Desk) {
	t.Helper()
	hand := &coordtest.Hand{Answer: answer}
	w := coordtest.New(t, coordtest.Handlers{coordtest.Write: hand, coordtest.Read: hand, "Net.Send": hand},
		func(o *coordinator.Options) { o.Home = "here" })
	d := attended.Desk{
		Office: w.Office(), Root: reachableRoot(t), Home: "here", Jail: confinetest.Jail(t, 0),
		Wall: func() time.Time { return time.Unix(w.Now(), 0) },
	}
	grants := []record.SessionGrant{coordtest.Grant(coordtest.Write, coordtest.Scope, 5)}
	terminal, _ := sit(t, nil, "y\n")
	minted, tree, err := d.New(t.Context(), terminal, session.Terms{Episode: "ep", Grants: grants, TTL: 60},
		worktree.Request{Repository: repository(t), Episode: "ep"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tree.Path, "made"), []byte("1\n2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return w, session.Live{Object: minted.Object, Record: minted.Record, Credential: minted.Record.Credential}, d
}

func succeed(broker.Job) broker.Result { return coordtest.Succeed(`{}`) }

// reachableRoot is a workspace root that users of episodes can walk to.
func reachableRoot(t *testing.T) worktree.Root {
	t.Helper()
	dir, err := os.MkdirTemp("", "worktrees-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return worktree.Root(dir)
}

func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "one"}} {
		git := exec.Command("git", append([]string{"-C", dir}, args...)...)
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	return dir
}

func TestEndShowsRevokesAndCloses(t *testing.T) {
	for _, remove := range []bool{true, false} {
		w, live, d := episode(t, succeed)
		w.Mint("ep", coordtest.Grant(coordtest.Read, coordtest.Scope, 1))
		w.Must(live, coordtest.Act, "one", `{}`)
		terminal, h := sit(t, nil, "y\n")
		done, err := d.End(t.Context(), terminal, "ep", remove)
		if err != nil {
			t.Fatal(err)
		}
		what, disposal := "is kept for you", record.Kept
		if remove {
			what, disposal = "is REMOVED with all that is in it", record.Removed
		}
		for _, want := range []string{`"Workspace.Write" on "worktree": 1`, "in 1 file(s), +2 -0 lines:", `new, +2 -0: "made"`,
			"Confirm that episode ep ends for ever, with 2 session(s) revoked, and that its worktree " + what + "? [y/N] "} {
			if !strings.Contains(h.saw(), want) {
				t.Errorf("the screen does not show %q: %q", want, h.saw())
			}
		}
		if _, err := os.Stat(d.Root.Path("ep")); os.IsNotExist(err) != remove || done.Worktree != disposal || len(done.Revoked) != 2 {
			t.Errorf("%+v, the worktree: %v", done, err)
		}
		object, err := w.Store.Object(t.Context(), done.Object)
		if err != nil {
			t.Fatal(err)
		}
		r, err := record.DecodeEnding(object.Bytes())
		if err != nil || r.Changed == nil || r.Changed.Added != 2 || r.Worktree != disposal || len(r.Spent) != 1 || r.Spent[0].Total != 1 {
			t.Errorf("the record says %s, %v", object.Bytes(), err)
		}
		if _, err := w.Invoke(t.Context(), live, coordtest.Act, "two", `{}`); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("a call after the end: %v", err)
		}
		nothingMore(t, w, d)
		trail, err := why.Walk(t.Context(), w.Store, string(done.Object), why.DefaultScan)
		if err != nil || !strings.Contains(trail.Steps[1].Says, "of episode ep") {
			t.Errorf("why says %+v, %v", trail, err)
		}
	}
}

// TestEndForgetsWhatWasKept for the episode's calls, once it has ended and not
// before, and says when that could not be done: the episode has ended all the same.
func TestEndForgetsWhatWasKept(t *testing.T) {
	for _, remove := range []bool{true, false} {
		_, _, d := episode(t, succeed)
		var forgotten []store.EpisodeID
		stuck := fault.New("test", fault.Unavailable, "it is stuck")
		d.Forget = func(id store.EpisodeID) error {
			if ended, err := session.Ended(t.Context(), d.Office.Store, id); err != nil || ended == "" {
				t.Errorf("%s is forgotten before it has ended: %v", id, err)
			}
			forgotten = append(forgotten, id)
			return stuck
		}
		terminal, _ := sit(t, nil, "n\n")
		if _, err := d.End(t.Context(), terminal, "ep", remove); !fault.Is(err, fault.Denied) || len(forgotten) != 0 {
			t.Errorf("%v, forgotten %v", err, forgotten)
		}
		terminal, _ = sit(t, nil, "y\n")
		done, err := d.End(t.Context(), terminal, "ep", remove)
		if !errors.Is(err, stuck) || !slices.Equal(forgotten, []store.EpisodeID{"ep"}) || done.Object == "" {
			t.Errorf("%+v, %v, forgotten %v", done, err, forgotten)
		}
		if _, err := os.Stat(d.Root.Path("ep")); os.IsNotExist(err) != remove || !remove && done.Path == "" {
			t.Errorf("%+v, the worktree: %v", done, err)
		}
	}
}

// nothingMore holds that the episode is closed and the store clean.
func nothingMore(t *testing.T, w *coordtest.World, d attended.Desk) {
	t.Helper()
	before, err := w.Store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	closed := session.Terms{Episode: "ep", Grants: []record.SessionGrant{coordtest.Grant(coordtest.Write, coordtest.Scope, 5)}, TTL: 60}
	terminal, h := sit(t, nil, "y\n")
	if _, err := d.Mint(t.Context(), terminal, closed); !fault.Is(err, fault.Conflict) || h.saw() != "" {
		t.Errorf("a mint after the end: %v, asked %q", err, h.saw())
	}
	if _, _, err := d.New(t.Context(), terminal, closed, worktree.Request{Repository: repository(t), Episode: "ep"}); !fault.Is(err, fault.Conflict) || h.saw() != "" {
		t.Errorf("a new session after the end: %v, asked %q", err, h.saw())
	}
	if _, err := w.Office().Mint(t.Context(), closed, w.Now()); !fault.Is(err, fault.Conflict) {
		t.Errorf("an unattended mint after the end: %v", err)
	}
	if after, err := w.Store.Head(t.Context()); err != nil || after != before {
		t.Errorf("the log went from %d to %d, %v", before.Index, after.Index, err)
	}
	report, err := fsck.Run(t.Context(), w.Store.(store.Auditor), fsck.Options{})
	if err != nil || !report.Clean() {
		t.Errorf("fsck: %v, %v", report.Findings, err)
	}
}

func TestAKeptWorktreeIsRemovedLater(t *testing.T) {
	w, _, d := episode(t, succeed)
	terminal, _ := sit(t, nil, "y\n")
	if _, err := d.End(t.Context(), terminal, "ep", false); err != nil {
		t.Fatal(err)
	}
	terminal, h := sit(t, nil, "y\n")
	if _, err := d.End(t.Context(), terminal, "ep", false); !fault.Is(err, fault.Conflict) || h.saw() != "" {
		t.Errorf("a second end: %v, asked %q", err, h.saw())
	}
	if _, err := d.End(t.Context(), terminal, "ep", true); err != nil || !strings.Contains(h.saw(), "of ended episode ep is REMOVED") {
		t.Errorf("%v, asked %q", err, h.saw())
	}
	if _, err := os.Stat(d.Root.Path("ep")); !os.IsNotExist(err) {
		t.Errorf("the worktree: %v", err)
	}
	nothingMore(t, w, d)
}

func TestEndIsRefused(t *testing.T) {
	w, live, d := episode(t, succeed)
	elsewhere, rootless := d, d
	elsewhere.Home, rootless.Root = "elsewhere", ""
	for name, c := range map[string]struct {
		desk    attended.Desk
		episode store.EpisodeID
		types   string
		kind    fault.Kind
		asks    bool
	}{
		"no":               {d, "ep", "n\n", fault.Denied, true},
		"unknown":          {d, "nobody", "y\n", fault.NotFound, false},
		"malformed":        {d, "No Name", "y\n", fault.Invalid, false},
		"another daemon":   {elsewhere, "ep", "y\n", fault.Conflict, false},
		"no worktree root": {rootless, "ep", "y\n", fault.Invalid, false},
	} {
		terminal, h := sit(t, nil, c.types)
		if _, err := c.desk.End(t.Context(), terminal, c.episode, true); !fault.Is(err, c.kind) || (h.saw() != "") != c.asks {
			t.Errorf("%s: %v, asked %q", name, err, h.saw())
		}
	}
	w.Must(live, coordtest.Act, "still", `{}`)
	if _, err := os.Stat(filepath.Join(d.Root.Path("ep"), "made")); err != nil {
		t.Error(err)
	}
}

// TestEndWaitsForTheLastCall ends an episode while an effect runs: its outcome is
// recorded before the end, and the end knows of it, with all that it changed; what
// the operator was not shown is not removed.
func TestEndWaitsForTheLastCall(t *testing.T) {
	running, release := make(chan struct{}), make(chan struct{})
	var late string
	w, live, d := episode(t, func(broker.Job) broker.Result {
		close(running)
		<-release
		if err := os.WriteFile(late, []byte("1\n2\n3\n"), 0o644); err != nil {
			t.Error(err)
		}
		return coordtest.Succeed(`{}`)
	})
	late = filepath.Join(d.Root.Path("ep"), "late")
	called, ended := make(chan error, 1), make(chan error, 1)
	var done attended.Ended
	go func() {
		_, err := w.Invoke(t.Context(), live, coordtest.Act, "long", `{}`)
		called <- err
	}()
	<-running
	terminal, _ := sit(t, nil, "y\n")
	go func() {
		var err error
		done, err = d.End(t.Context(), terminal, "ep", true)
		ended <- err
	}()
	await.That(t, "the session is revoked", func() bool {
		s, err := w.Store.Session(t.Context(), live.Credential)
		if err != nil {
			t.Fatal(err)
		}
		return s.Revocation != ""
	})
	// Long enough to look at the worktree, which tells nothing before the call has ended.
	await.Stays(t, "it waits for the effect", time.Second, func() bool { return len(ended) == 0 })
	close(release)
	if err := <-called; err != nil {
		t.Errorf("the last call: %v", err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the end: %v", err)
	}
	said := strings.Join(done.Late, "\n")
	for _, want := range []string{"after you were asked", "in 2 file(s), +5 -0 lines:", `new, +3 -0: "late"`, "not removed"} {
		if !strings.Contains(said, want) {
			t.Errorf("it says %q and not %q", said, want)
		}
	}
	object, err := w.Store.Object(t.Context(), done.Object)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := record.DecodeEnding(object.Bytes()); err != nil || r.Changed == nil || r.Changed.Files != 2 || r.Worktree != record.Kept {
		t.Errorf("the record says %s, %v", object.Bytes(), err)
	}
	if _, err := os.Stat(late); err != nil {
		t.Errorf("what was not shown: %v", err)
	}
	nothingMore(t, w, d)
	terminal, _ = sit(t, nil, "y\n")
	if done, err := d.End(t.Context(), terminal, "ep", true); err != nil || done.Worktree != record.Removed || len(done.Late) > 0 {
		t.Errorf("the removal: %+v, %v", done, err)
	}
}
