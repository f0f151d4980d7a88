package admin

import (
	"strings"
	"testing"

	"world/session"
)

func TestEndAtTheClientsTerminal(t *testing.T) {
	d := startDaemon(t)
	if _, err := d.desk.Office.Mint(t.Context(), session.Terms{Episode: "ep", Grants: terms().Grants, TTL: 60}, born); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, how, episode, root, answer string
		code                             int
		want                             string
	}{
		{"no terminal", "end without a terminal", "ep", "", "", 1, "denied: this needs the controlling terminal"},
		{"nobody", "end", "nobody", "", "", 1, "not found: there is no episode nobody"},
		{"another root", "end", "ep", t.TempDir(), "", 1, "another workspace root"},
		{"a no", "end", "ep", "", "n\n", 1, "denied: aborted"},
		{"a yes", "end", "ep", "", "y\n", 0, "{ep sha256:"},
		{"again", "end", "ep", "", "", 1, "conflict: episode ep has ended"},
	} {
		before := d.head(t)
		run := d.startClient(t, c.how, "EPISODE="+c.episode, "ROOT="+c.root)
		if c.answer != "" {
			run.asked(t)
			run.types(t, c.answer)
		}
		if code, out := run.answer(t); code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("%s: exit %d: %s", c.name, code, out)
		}
		if c.code != 0 && d.head(t) != before {
			t.Errorf("%s: the log went on to %d", c.name, d.head(t))
		}
	}
}
