package main

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// The README tells of every verb there is.
func TestTheReadmeTellsOfEveryVerb(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	verbs := 0
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if !c.HasSubCommands() {
			verbs++
			name := strings.TrimPrefix(c.CommandPath(), program+" ")
			if !strings.Contains(string(readme), "`"+name) && !strings.Contains(string(readme), "ailang-worldd "+name) {
				t.Errorf("no word of %s", name)
			}
		}
		for _, below := range c.Commands() {
			visit(below)
		}
	}
	visit(newRoot())
	if verbs < 15 {
		t.Errorf("%d verbs seen: too few", verbs)
	}
}
