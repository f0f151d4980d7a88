package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"world/spec"
)

func TestDecideAsksAllThree(t *testing.T) {
	for _, row := range []struct {
		name string
		args []string
		want []string // label, grant, before, remaining
	}{
		{"allowed", []string{"--grant", "Workspace.Read=worktree:5", "--request", "Workspace.Read=worktree:2"}, []string{"allowed", "0", "5", "3"}},
		{"no grant", []string{"--request", "Workspace.Read=worktree:1"}, []string{"denied:effect-name", "-1", "0", "0"}},
		{"scope", []string{"--grant", "A=b:5", "--request", "A=c:1"}, []string{"denied:scope", "0", "5", "5"}},
		{"expired", []string{"--grant", "A=b:5@10", "--request", "A=b:1@10"}, []string{"denied:expired", "0", "5", "5"}},
		{"budget, second grant", []string{"--grant", "A=c:5", "--grant", "A=b:0", "--request", "A=b:1"}, []string{"denied:budget", "1", "0", "0"}},
		{"negative numbers", []string{"--grant", "A=b:-1", "--request", "A=b:-1"}, []string{"denied:budget", "0", "-1", "-1"}},
		{"a colon in the scope", []string{"--grant", "Net=https://a:8080:3", "--request", "Net=https://a:8080:3"}, []string{"allowed", "0", "3", "0"}},
	} {
		code, out, errs := verb(append([]string{"decide"}, row.args...)...)
		if code != 0 {
			t.Errorf("%s: exit %d: %s%s", row.name, code, out, errs)
			continue
		}
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if len(lines) != 4 {
			t.Errorf("%s: %d lines: %s", row.name, len(lines), out)
			continue
		}
		for i, by := range []string{"broker/law", "z3", "cvc5"} {
			want := append([]string{by}, row.want...)
			if got := strings.Fields(lines[i+1]); strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("%s: %q, want %q", row.name, got, want)
			}
		}
	}
}

func TestDecideShowsADifference(t *testing.T) {
	ask := []string{"decide", "--grant", "A=b:5@10", "--request", "A=b:1@10"}
	broken := edited(t, "decision.smt2", "(lt (now r) (expires g))", "(le (now r) (expires g))")
	code, out, errs := verb(append(ask, "--spec", broken)...)
	if code != 1 || !strings.Contains(errs, "the answers differ") || !strings.Contains(out, "denied:expired") || !strings.Contains(out, "allowed") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	// The same text as a law of its own is an experiment, not a failure.
	code, out, errs = verb(append(ask, "--law", filepath.Join(broken, "decision.smt2"))...)
	if code != 0 || !strings.Contains(out, "allowed") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

func TestDecideRefusesBadInput(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	decision, _ := mustBook(t).File("decision")
	ask := []string{"decide", "--request", "A=b:1"}
	for _, row := range []struct {
		name, says string
		args       []string
	}{
		{"no request", `"request" not set`, []string{"decide"}},
		{"no scope", `"A:1" is not EFFECT=SCOPE:NUMBER`, []string{"decide", "--request", "A:1"}},
		{"no number", `"A=b" is not`, []string{"decide", "--request", "A=b"}},
		{"a word", `"A=b:many" is not`, []string{"decide", "--request", "A=b:many"}},
		{"too large", `"A=b:9223372036854775808" is not`, append(ask, "--grant", "A=b:9223372036854775808")},
		{"a bad time", `"A=b:1@noon" is not`, append(ask, "--grant", "A=b:1@noon")},
		{"an argument", "unknown command", append(ask, "more")},
		{"no law file", "cannot be read", append(ask, "--law", filepath.Join(dir, "none.smt2"))},
		{"a law that does not close", "open.smt2:1: a list that is not closed", append(ask, "--law", write("open.smt2", "(define-fun judge"))},
		{"a law without a function", "short.smt2:24: ", append(ask, "--law", write("short.smt2", strings.Replace(decision.Text, "(define-fun judge (", "(define-fun other (", 1)))},
		{"a law that is too large", "more than 1048576 bytes", append(ask, "--law", write("large.smt2", strings.Repeat("; words\n", 1<<18)))},
	} {
		code, out, errs := verb(row.args...)
		if code != 2 || !strings.Contains(errs, row.says) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: exit %d, want 2 and one line with %q: %s%s", row.name, code, row.says, out, errs)
		}
	}
}

func mustBook(t *testing.T) *spec.Book {
	t.Helper()
	b, err := spec.Load(spec.Embedded())
	if err != nil {
		t.Fatal(err)
	}
	return b
}
