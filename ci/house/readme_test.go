package house_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheReadmeNamesEveryTarget: what the README tells to make can be made, and what
// can be made is told there.
func TestTheReadmeNamesEveryTarget(t *testing.T) {
	read := func(name string) string {
		raw, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	told := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)(?:^|`)make ([a-z-]+)").FindAllStringSubmatch(read("README.md"), -1) {
		told[m[1]] = true
	}
	makefile := read("Makefile")
	var targets []string
	for line := range strings.Lines(makefile) {
		if names, ok := strings.CutPrefix(line, ".PHONY:"); ok {
			targets = strings.Fields(names)
		}
	}
	if slices.Sort(targets); !slices.Equal(targets, slices.Sorted(maps.Keys(told))) || len(targets) < 10 {
		t.Errorf("the README tells of %q, the Makefile of %q", slices.Sorted(maps.Keys(told)), targets)
	}
	for _, name := range targets {
		if !strings.Contains(makefile, "\n"+name+":") {
			t.Errorf("%s has no rule", name)
		}
	}
}
