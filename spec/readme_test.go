package spec_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The prose names every theorem and every function of every model, and nothing
// that is not there.
func TestTheProseIsComplete(t *testing.T) {
	raw, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(string(raw), -1) {
		named[m[1]] = true
	}
	b := load(t)
	for _, th := range b.Theorems {
		if !named[th.ID] {
			t.Errorf("README.md does not name theorem %s", th.ID)
		}
	}
	internal := map[string]bool{"open": true} // an abbreviation
	defined := map[string]bool{}
	for _, model := range b.Models() {
		c, _ := b.File(model)
		if !named[model+".smt2"] {
			t.Errorf("README.md does not name %s.smt2", model)
		}
		for _, m := range regexp.MustCompile(`\(define-fun ([^ ]+) `).FindAllStringSubmatch(c.Text, -1) {
			defined[m[1]] = true
			if !named[m[1]] && !internal[m[1]] {
				t.Errorf("README.md does not name %s of %s.smt2", m[1], model)
			}
		}
	}
	for _, line := range strings.Split(string(raw), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || strings.HasPrefix(line, "| rule") || strings.Contains(line, "---") {
			continue
		}
		for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(cells[3], -1) {
			if _, ok := b.Theorem(m[1]); !ok {
				t.Errorf("README.md names a theorem %s, which is not there", m[1])
			}
		}
		for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(cells[2], -1) {
			if !defined[m[1]] {
				t.Errorf("README.md names a definition %s, which is not there", m[1])
			}
		}
	}
}

// Theorems that are carried are named where carrying is explained.
func TestTheProseExplainsWhatIsCarried(t *testing.T) {
	raw, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), "**Carried.**")
	text, _, _ := strings.Cut(rest, "**Induction.**")
	for _, th := range load(t).Theorems {
		if len(th.CarriedBy) > 0 && !strings.Contains(text, "`"+th.ID+"`") {
			t.Errorf("README.md does not explain how %s is carried", th.ID)
		}
	}
}
