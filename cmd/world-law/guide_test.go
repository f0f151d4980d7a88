package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// asProgram makes this test binary be world-law: the guide's commands run it.
const asProgram = "WORLD_LAW_TEST_AS_PROGRAM"

// block is a fenced block of the guide.
type block struct{ language, text string }

func blocks(t *testing.T, file string) []block {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []block
	for i, part := range strings.Split(string(raw), "```") {
		if i%2 == 1 {
			language, text, _ := strings.Cut(part, "\n")
			out = append(out, block{language, text})
		}
	}
	return out
}

// Every command of the guide runs as it stands there, in order, and prints the
// lines that stand below it.
func TestTheGuide(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "spec"), os.DirFS("../../spec")); err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	shim := "#!/bin/sh\n" + asProgram + "=1 exec '" + os.Args[0] + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, program), []byte(shim), 0o755); err != nil {
		t.Fatal(err)
	}
	ran, printed := 0, ""
	for _, b := range blocks(t, "../../spec/z3/extensions/README.md") {
		switch b.language {
		case "sh":
			cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", b.text)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
			begin := time.Now()
			raw, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v:\n%s\n%s", err, b.text, raw)
			}
			t.Logf("%.1f s: %s", time.Since(begin).Seconds(), strings.SplitN(b.text, "\n", 2)[0])
			ran, printed = ran+1, spaced(string(raw))
		case "text":
			for _, line := range strings.Split(strings.TrimSpace(b.text), "\n") {
				if !strings.Contains(printed, spaced(line)) {
					t.Errorf("the guide promises %q, printed was:\n%s", line, printed)
				}
			}
		}
	}
	if ran < 8 {
		t.Errorf("%d blocks of commands found: too few", ran)
	}
}

// spaced has single spaces, so that a table's widths do not matter.
func spaced(text string) string { return strings.Join(strings.Fields(text), " ") }

// The worked laws stand to the base as the guide says, and their theorems hold of
// them and not of what they are made to rule out.
func TestTheWorkedLaws(t *testing.T) {
	const dir = "../../spec/z3/extensions/"
	for _, row := range []struct{ law, theorem, want string }{
		{"prefix-scopes", "prefix-scopes-within", "wider"},
		{"delegation", "delegation-no-wider", "narrower"},
	} {
		if code, out, errs := verb("diff", dir+row.law+".smt2", "--want", row.want); code != 0 {
			t.Errorf("%s: exit %d: %s%s", row.law, code, out, errs)
		}
		if code, out, errs := verb("prove", "--law", dir+row.law+".smt2", dir+row.theorem+".smt2"); code != 0 {
			t.Errorf("%s: exit %d: %s%s", row.theorem, code, out, errs)
		}
	}
	if code, _, errs := verb("diff", dir+"delegation.smt2", "--want", "wider"); code != 1 || !strings.Contains(errs, "is narrower, not wider") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if code, out, _ := verb("prove", dir+"delegation-no-wider.smt2"); code != 1 || !strings.Contains(out, "refuted by") {
		t.Errorf("of the base: exit %d: %s", code, out)
	}
}
