package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"world/drift/trace"
	"world/store/handover"
)

func newTrace() *cobra.Command {
	return &cobra.Command{
		Use:   "trace FOLDER",
		Short: "Check the journals that suites handed over against the journal model",
		Long: `Follows every journal in a folder step by step: each event must be lawful in the
model's state, the rows must end where the steps end, and every invariant must hold.
Suites hand their journals over to the folder that ` + handover.Folder + ` names.

Exit 1: a step is not lawful, an invariant does not hold, or rows disagree.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return traceVerb(cmd.OutOrStdout(), args[0])
		},
	}
}

func traceVerb(out io.Writer, dir string) error {
	journals, err := handover.Load(dir)
	if err != nil {
		return err
	}
	steps := map[trace.Kind]int{}
	episodes, assumed, findings := 0, 0, 0
	for _, j := range journals {
		r := trace.Check(j)
		for _, f := range r.Findings {
			fmt.Fprintf(out, "! %s: %s\n", j.Name, f)
		}
		for k, n := range r.Steps {
			steps[k] += n
		}
		episodes, assumed, findings = episodes+r.Episodes, assumed+r.Assumed, findings+len(r.Findings)
	}
	for _, k := range slices.Sorted(maps.Keys(steps)) {
		fmt.Fprintf(out, "%9d  %s\n", steps[k], k)
	}
	fmt.Fprintf(out, "%d journals of %d episodes followed, %d intents or words without a record taken as given; findings: %d\n", len(journals), episodes, assumed, findings)
	if findings > 0 {
		return errNot(fmt.Sprintf("%d findings", findings))
	}
	return nil
}
