package session_test

import (
	"math"
	"strings"
	"testing"

	"world/broker/law"
	"world/fault"
	"world/session"
	"world/store/record"
)

func TestParseGrant(t *testing.T) {
	long, longer := strings.Repeat("e", session.MaxEffect), strings.Repeat("s", session.MaxScope)
	for text, want := range map[string]record.SessionGrant{
		"Workspace.Read=worktree:50": {Effect: "Workspace.Read", Scope: "worktree", Budget: 50},
		"Net.Get=https://a.b:443:7":  {Effect: "Net.Get", Scope: "https://a.b:443", Budget: 7},
		"E=a=b:0":                    {Effect: "E", Scope: "a=b", Budget: 0},
		"E=s:9223372036854775807":    {Effect: "E", Scope: "s", Budget: math.MaxInt64},
		"E=größe:1":                  {Effect: "E", Scope: "größe", Budget: 1},
		long + "=s:1":                {Effect: law.Effect(long), Scope: "s", Budget: 1},
		"E=" + longer + ":1":         {Effect: "E", Scope: law.Scope(longer), Budget: 1},
	} {
		got, err := session.ParseGrant(text)
		if err != nil {
			t.Errorf("%.40q: %v", text, err)
			continue
		}
		if got != want {
			t.Errorf("%q: got %+v, want %+v", text, got, want)
		}
		if back := session.FormatGrant(got); back != text {
			t.Errorf("%.40q is written as %.40q", text, back)
		}
	}
}

func TestParseGrantRefuses(t *testing.T) {
	for _, text := range []string{
		"A=worktree:1,B=worktree:1", "A=worktree:1, B=worktree:1", "A=worktree:1 B=worktree:1", "A=worktree:1;B=worktree:1", "A,B=worktree:1",
		"E=two words:1", "E=s\u00a0:1", "E =s:1", "E= s:1",
		"", "E", "E=s", "E:1", "=s:1", "E=:1", "E=s:", "E=s:x", "E=s:-1", "E=s:+1", "E=s:01", "E=s: 1", "E=s:1 ",
		"E=s:1_0", "E=s:0x1", "E=s:9223372036854775808",
		"E\x00=s:1", "E=s\x00:1", "E=s\n:1", "E=s\x1b[2K:1", "E=s\x7f:1", "E=s\u0085:1",
		"E=s\xff:1", "E\xc3=s:1", "E=a\u202eb:1", "E=a\u200bb:1", "E=a\u2028b:1",
		strings.Repeat("e", 129) + "=s:1", "E=" + strings.Repeat("s", 513) + ":1",
	} {
		if g, err := session.ParseGrant(text); !fault.Is(err, fault.Invalid) {
			t.Errorf("%.40q: got %+v, %v, want a refusal", text, g, err)
		}
	}
}

func TestParseGrantsKeepsOrderAndRefusesDuplicates(t *testing.T) {
	grants, err := session.ParseGrants([]string{"B=s:1", "A=s:2", "A=t:3"})
	if err != nil || len(grants) != 3 || grants[0].Effect != "B" || grants[2].Scope != "t" {
		t.Fatalf("got %+v, %v", grants, err)
	}
	_, err = session.ParseGrants([]string{"A=s:1", "B=s:1", "A=s:2"})
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "two grants of A=s") {
		t.Errorf("two grants of one effect and scope: got %v", err)
	}
	_, err = session.ParseGrants([]string{"A=s:1", "B"})
	if !fault.Is(err, fault.Invalid) || !strings.Contains(fault.Detail(err), "grant 2: ") {
		t.Errorf("the malformed grant is not named: %v", err)
	}
	many := make([]string, session.MaxGrants+1)
	for i := range many {
		many[i] = "E" + strings.Repeat("e", i) + "=s:1"
	}
	if _, err := session.ParseGrants(many[:session.MaxGrants]); err != nil {
		t.Errorf("%d grants: %v", session.MaxGrants, err)
	}
	for _, texts := range [][]string{many, {}} {
		if _, err := session.ParseGrants(texts); !fault.Is(err, fault.Invalid) {
			t.Errorf("%d grants: got %v", len(texts), err)
		}
	}
}

// What reaches CheckGrants may come over a socket and not through ParseGrant.
func TestCheckGrantsHoldsWhatParsingHolds(t *testing.T) {
	good := record.SessionGrant{Effect: "E", Scope: "s", Budget: 1}
	if err := session.CheckGrants([]record.SessionGrant{good}); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*record.SessionGrant){
		"effect with =":   func(g *record.SessionGrant) { g.Effect = "a=b" },
		"negative budget": func(g *record.SessionGrant) { g.Budget = -1 },
		"no effect":       func(g *record.SessionGrant) { g.Effect = "" },
		"a list":          func(g *record.SessionGrant) { g.Scope = "s:1,E=s" },
		"bad utf-8":       func(g *record.SessionGrant) { g.Scope = "\xff" },
	} {
		g := good
		change(&g)
		if err := session.CheckGrants([]record.SessionGrant{g}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestPresetIsWrittenOut(t *testing.T) {
	grants, err := session.SeTools.Expand(50)
	if err != nil {
		t.Fatal(err)
	}
	texts := make([]string, len(grants))
	for i, g := range grants {
		texts[i] = session.FormatGrant(g)
	}
	want := "Workspace.Read=worktree:50 Workspace.Write=worktree:50 Ailang.Check=worktree:50 " +
		"Ailang.Run=worktree:50 Ailang.Discover=worktree:50 Ailang.CLI=worktree:50"
	if got := strings.Join(texts, " "); got != want {
		t.Errorf("got %s", got)
	}
	if _, err := session.Preset("all").Expand(1); !fault.Is(err, fault.Invalid) {
		t.Errorf("an unknown preset: got %v", err)
	}
	if _, err := session.SeTools.Expand(-1); !fault.Is(err, fault.Invalid) {
		t.Errorf("a negative budget: got %v", err)
	}
}

func FuzzParseGrant(f *testing.F) {
	for _, seed := range []string{"Workspace.Read=worktree:50", "E=a:b=c:0", "E=s:-1", "=:", "E=s\x00:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := session.ParseGrant(text)
		if err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if session.FormatGrant(g) != text || session.CheckGrants([]record.SessionGrant{g}) != nil {
			t.Fatalf("%q parses to %+v and does not read back", text, g)
		}
		// What the record keeps is what was read: nothing is lost in its JSON.
		r := record.SessionRecord{
			Credential: session.NewToken().ID(), Episode: "ep", Grants: []record.SessionGrant{g},
		}
		back, err := record.DecodeSession(r.Bytes())
		if err != nil || back.Grants[0] != g {
			t.Fatalf("%q is kept as %+v, %v", text, back.Grants, err)
		}
	})
}
