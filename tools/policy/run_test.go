package policy

import (
	"slices"
	"strings"
	"testing"

	"world/fault"
)

func TestForRun(t *testing.T) {
	addresses := []string{"127.0.0.1:8080", "[::1]:9"}
	for _, c := range []struct {
		caps       []string
		mode, list string
		budget     int
		net        bool
	}{
		{nil, Restricted, "IO FS", fsBudget, false},
		{[]string{}, Restricted, "FS", 0, false},
		{[]string{"IO"}, Restricted, "IO FS", 0, false},
		{[]string{"FS", "IO"}, Restricted, "FS IO", fsBudget, false},
		{[]string{"Declassify", "FS"}, Restricted, "Declassify FS", fsBudget, false},
		{[]string{"Env", "IO"}, Trusted, "Env IO FS", 0, false},
		{[]string{"FS", "Net"}, Restricted, "FS Net", fsBudget, true},
	} {
		raw, err := ForRun("/ws/ep1", c.caps, addresses).Render()
		if err != nil {
			t.Fatal(err)
		}
		p, err := Parse(raw)
		if err != nil {
			t.Errorf("%v: %v\n%s", c.caps, err, raw)
			continue
		}
		if p.SecurityMode != c.mode || strings.Join(p.AllowedCaps, " ") != c.list || p.Budgets["FS"] != c.budget || c.net != slices.Equal(p.NetAllow, addresses) {
			t.Errorf("%v: %+v", c.caps, p)
		}
		asked := c.caps
		if asked == nil {
			asked = []string{"IO", "FS"}
		}
		if !slices.Equal(p.Granted(), asked) {
			t.Errorf("%v: granted %v", c.caps, p.Granted())
		}
		// What an AILANG that trusts the host would not protect is written out.
		if trusted := c.mode == Trusted; trusted != strings.Contains(string(raw), "max_output_bytes = 8388608") || trusted != (p.DenyWrite[0] == ".git/**") {
			t.Errorf("%v:\n%s", c.caps, raw)
		}
		if strings.Index(string(raw), "[budgets]") < strings.Index(string(raw), "entry") {
			t.Errorf("%v: a key after the budgets belongs to them:\n%s", c.caps, raw)
		}
	}
	same, _ := For("/ws/ep1").Render()
	if raw, _ := ForRun("/ws/ep1", nil, addresses).Render(); string(raw) != string(same) {
		t.Error("a run without capabilities named has another policy than the episode")
	}
}

func TestParseNetAllow(t *testing.T) {
	for _, good := range []string{"127.0.0.1:1", "127.0.0.1:65535", "127.1.2.3:80", "[::1]:80"} {
		if got, err := ParseNetAllow(good); err != nil || got != good {
			t.Errorf("%s: %q, %v", good, got, err)
		}
	}
	for _, bad := range []string{
		"", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:080", "10.0.0.1:80", "0.0.0.0:80", "localhost:80", "[::]:80",
		"[::ffff:127.0.0.1]:80", "[::1%lo]:80", "[0:0:0:0:0:0:0:1]:80", " 127.0.0.1:80", "::1:80",
	} {
		if got, err := ParseNetAllow(bad); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %q, %v", bad, got, err)
		}
	}
}
