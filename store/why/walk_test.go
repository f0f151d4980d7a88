package why_test

import (
	"fmt"
	"strings"
	"testing"

	"world/broker"
	"world/coordinator/coordtest"
	"world/session"
	"world/store"
	"world/store/why"
)

// world is one with a call of each kind: log 1 mints, 2 succeeds, 3 fails, 4 is
// lost, 5 is denied by budget, 6 is denied by name, 7 is pure.
func world(t *testing.T) (*coordtest.World, session.Live) {
	t.Helper()
	hand := &coordtest.Hand{Answer: func(job broker.Job) broker.Result {
		switch {
		case strings.Contains(string(job.Payload), "fail"):
			return coordtest.Fail("the disk is on fire")
		case strings.Contains(string(job.Payload), "lose"):
			return coordtest.Lose("nobody knows")
		}
		return coordtest.Succeed(`{"done":true}`)
	}}
	w := coordtest.New(t, coordtest.Handlers{coordtest.Write: hand, coordtest.Read: hand}, nil)
	live := w.Mint("ep", coordtest.Grant("Other.Effect", "x", 1), coordtest.Grant(coordtest.Write, coordtest.Scope, 3))
	w.Must(live, coordtest.Act, "ok", `{"do":"write"}`)
	w.Must(live, coordtest.Act, "fail", `{"do":"fail"}`)
	w.Must(live, coordtest.Act, "lose", `{"do":"lose"}`)
	w.Must(live, coordtest.Act, "budget", `{}`)
	w.Must(live, coordtest.Act, "name", `{"effect":"Workspace.Read"}`)
	w.Must(live, coordtest.Echo, "pure", `{"x":1}`)
	return w, live
}

func walk(t *testing.T, r store.Reader, target string) why.Trail {
	t.Helper()
	trail, err := why.Walk(t.Context(), r, target, why.DefaultScan)
	if err != nil {
		t.Fatalf("why %s: %v", target, err)
	}
	return trail
}

// parts are the parts of a trail in their order, a broken one with a mark.
func parts(trail why.Trail) string {
	names := make([]string, len(trail.Steps))
	for i, s := range trail.Steps {
		names[i] = s.Part
		if s.Fault != "" {
			names[i] += "!"
		}
	}
	return strings.Join(names, " ")
}

// says is what the first step of a part says.
func says(t *testing.T, trail why.Trail, part string) string {
	t.Helper()
	for _, s := range trail.Steps {
		if s.Part == part {
			return s.Says
		}
	}
	t.Errorf("no step %s in %s", part, parts(trail))
	return ""
}

const (
	head = "entry invocation source interpreter registry input "
	tail = " output session grant mint"
)

func TestWalkOfEveryKindOfCall(t *testing.T) {
	w, _ := world(t)
	for index, c := range map[int64]struct {
		parts, part, says string
	}{
		2: {head + "plan request record intent result" + tail, "record", "allowed, budget 3 to 2"},
		3: {head + "plan request record intent failure" + tail, "failure", "the disk is on fire"},
		4: {head + "plan request intent failure" + tail, "intent", "effect:ep:2 at 1700000000, indeterminate"},
		5: {head + "plan request record" + tail, "record", "denied:budget, budget 0 unchanged"},
		6: {head + "plan request record" + tail, "grant", "none names the effect Workspace.Read"},
		7: {head + "output session mint", "output", `{"echo":{"x":1},"world":{"effects":[],"plan":null}}`},
		1: {"entry session", "session", "episode ep, 2 grant(s), live from 1700000000 until 1700003600"},
		0: {"entry genesis registry", "registry", "revision 1 with 6 transitions"},
	} {
		trail := walk(t, w.Store, fmt.Sprint(index))
		if !trail.Holds || parts(trail) != c.parts {
			t.Errorf("log %d: holds %v: %s\nwant %s", index, trail.Holds, parts(trail), c.parts)
		}
		if got := says(t, trail, c.part); got != c.says {
			t.Errorf("log %d: %s says %q, want %q", index, c.part, got, c.says)
		}
	}
	trail := walk(t, w.Store, "2")
	if got := says(t, trail, "grant"); got != "grant 1: Workspace.Write=worktree:3" {
		t.Errorf("the deciding grant is %q", got)
	}
	if got := says(t, trail, "mint"); got != "log 1 by host:session-mint" {
		t.Errorf("the mint is %q", got)
	}
}

func TestRevocationLeadsToTheMint(t *testing.T) {
	w, live := world(t)
	if _, err := w.Office().Revoke(t.Context(), live.Credential, w.Now()); err != nil {
		t.Fatal(err)
	}
	trail := walk(t, w.Store, "head")
	if got := parts(trail); got != "entry revocation session mint" || !trail.Holds {
		t.Errorf("got %s", got)
	}
}

func TestWhatIsShownCannotSteerATerminal(t *testing.T) {
	w, live := world(t)
	w.Must(live, coordtest.Echo, "steer", `{"x":"\u001b[2J\u202e\u0007ok"}`)
	for _, s := range walk(t, w.Store, "head").Steps {
		if strings.ContainsFunc(s.Says, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' }) {
			t.Errorf("%s says %q", s.Part, s.Says)
		}
	}
	long := walk(t, w.Store, "head")
	for _, s := range long.Steps {
		if n := len([]rune(s.Says)); n > 200 {
			t.Errorf("%s says %d runes", s.Part, n)
		}
	}
	if got := says(t, long, "output"); !strings.Contains(got, "ok") {
		t.Errorf("the output says %q", got)
	}
}
