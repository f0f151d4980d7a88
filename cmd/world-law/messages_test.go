package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// What was asked wrongly is named as it was asked, with no half answer before it.
func TestMessagesNameWhatWasAsked(t *testing.T) {
	outside := t.TempDir()
	typed := lawFile(t, "(define-fun judge ((g Grant) (r Request)) Verdict", "(define-fun judge ((g Request) (r Request)) Verdict")
	for _, row := range []struct {
		name, says string
		args       []string
	}{
		{"no folder", `--spec "/no/such/folder" is not a folder that can be read`, []string{"prove", "--spec", "/no/such/folder"}},
		{"a file as folder", "is not a folder that can be read", []string{"prove", "--spec", typed}},
		{"outside the module", "world/broker/law is not to be found from ", []string{"validate", "--dir", outside}},
		{"a page outside the module", "must be a directory of the module", []string{"report", "--dir", outside, "--html", filepath.Join(outside, "x"), "--inputs", "10", "--mutants", typed, "debit"}},
		{"a word that is none", `--want "sideways" is not one of ["equivalent" "narrower" "wider" "incomparable"]`, []string{"diff", typed, "--want", "sideways"}},
		{"one set", `required flag(s) "b" not set`, []string{"compare", "--a", "A=b:1"}},
		{"the other set", `required flag(s) "a" not set`, []string{"compare", "--b", "A=b:1"}},
		{"a law of another type", "mine.smt2:", []string{"decide", "--law", typed, "--grant", "A=b:1", "--request", "A=b:1"}},
	} {
		code, out, errs := verb(row.args...)
		if code != exitUntried || !strings.Contains(errs, row.says) || strings.Count(errs, "\n") != 1 || out != "" {
			t.Errorf("%s: exit %d, want 2, %q and nothing else: %s%s", row.name, code, row.says, out, errs)
		}
	}
}
