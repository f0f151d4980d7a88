package why_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"world/broker"
	"world/coordinator/coordtest"
	"world/store"
)

// TestWhyTellsWhatACallChanged, by hash, however much, and nothing of a result that
// only looks like it.
func TestWhyTellsWhatACallChanged(t *testing.T) {
	before, after := store.RefOf([]byte("old")), store.RefOf([]byte("new"))
	change := func(path, kind string) string {
		return fmt.Sprintf(`{"path":%q,"kind":%q,"before":%q,"after":%q}`, path, kind, before, after)
	}
	many := strings.TrimSuffix(strings.Repeat(change("f", "changed")+",", 25), ",")
	for result, want := range map[string][]string{
		`{"ok":true}`:             nil,
		`{"changes":7,"ok":true}`: nil,
		`{"changes":[` + change("note.txt", "changed") + `],"ok":true}`: {fmt.Sprintf("note.txt changed: %s → %s", before, after)},
		`{"changes":[{"path":"a","kind":"created","after":"` + string(after) + `"},{"path":"b","kind":"deleted","before":"` + string(before) + `"},{"path":"d","kind":"directory"}],"omitted":3}`: {
			"a created: nothing → " + string(after), "b deleted: " + string(before) + " → nothing", "d directory", "and 3 more"},
		`{"changes":[{"path":"l","kind":"link","before":"` + string(before) + `","target":"a\u001bb"},{"path":"m","kind":"deleted","target_before":"n"}]}`: {
			fmt.Sprintf(`l link: %s → a link to "a\x1bb"`, before), `m deleted: a link to "n" → nothing`},
		`{"changes":[` + many + `],"omitted":2}`:               append(slices.Repeat([]string{fmt.Sprintf("f changed: %s → %s", before, after)}, 20), "and 7 more"),
		`{"changes":[{"path":"\u001b[2Jx","kind":"created"}]}`: {"\\u001b[2Jx created"},
	} {
		hand := &coordtest.Hand{Answer: func(broker.Job) broker.Result { return coordtest.Succeed(result) }}
		w := coordtest.New(t, coordtest.Handlers{coordtest.Write: hand, coordtest.Read: hand}, nil)
		live := w.Mint("ep", coordtest.Grant(coordtest.Write, coordtest.Scope, 3))
		w.Must(live, coordtest.Act, "call", `{"do":"write"}`)
		var got []string
		for _, s := range walk(t, w.Store, "2").Steps {
			if s.Part == "changed" {
				got = append(got, s.Says)
			}
			if s.Fault != "" {
				t.Errorf("%s: %+v", result, s)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%.80s: %q, want %q", result, got, want)
		}
	}
}
