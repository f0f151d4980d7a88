package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"world/cmd/internal/statedir"
	"world/fault"
	"world/store"
	"world/store/fsck"
)

func newFsck() *cobra.Command {
	var w where
	var most int
	var state string
	cmd := &cobra.Command{
		Use:   "fsck --db FILE|URL",
		Short: "Re-derive a whole store from its raw bytes and name what does not agree",
		Long: "Re-derive a whole store from its raw bytes, beside a running daemon or without one. Nothing\n" +
			"is written or repaired. One line a finding; exit 3 when there is any. What a store has lost\n" +
			"whole from its end it does not show itself: --state-dir compares it with what its daemon saw.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := w.openReading(cmd.Context())
			if fault.Is(err, fault.Corrupt) || fault.Is(err, fault.Version) {
				// A store too damaged to open is the plainest finding.
				fmt.Fprintln(cmd.OutOrStdout(), finding("store", startupText(err)))
				return exit{code: exitIntegrity}
			}
			if err != nil {
				return err
			}
			defer s.Close()
			m := newMeter(cmd.ErrOrStderr(), cmd.CommandPath())
			report, err := fsck.Run(cmd.Context(), s, fsck.Options{MaxFindings: most, Progress: m.tell})
			m.total("rows", report.Objects+report.Entries+report.Claims+report.Intents)
			if err == nil && state != "" {
				err = remembered(cmd.Context(), state, s, &report)
			}
			summarize(cmd.OutOrStdout(), report)
			if err != nil {
				return err
			}
			if !report.Clean() {
				return exit{code: exitIntegrity}
			}
			return nil
		},
	}
	w.flags(cmd, false)
	cmd.Flags().StringVar(&state, "state-dir", "", "also compare the store with the last entry that this state directory remembers")
	cmd.Flags().IntVar(&most, "max-findings", 1000, "findings to print; the rest is counted")
	return cmd
}

// remembered adds what a state directory knows of and the store lacks.
func remembered(ctx context.Context, dir string, s store.Reader, r *fsck.Report) error {
	lost, err := statedir.Rollback(ctx, dir, s)
	if lost != "" {
		r.Findings = append(r.Findings, fsck.Finding{Where: "state", What: lost})
	}
	return err
}

func summarize(out io.Writer, r fsck.Report) {
	for _, f := range r.Findings {
		fmt.Fprintln(out, finding(f.Where, f.What))
	}
	if r.More > 0 {
		fmt.Fprintf(out, "and %d more findings\n", r.More)
	}
	verdict := "clean"
	if !r.Clean() {
		verdict = fmt.Sprintf("%d findings", int64(len(r.Findings))+r.More)
	}
	fmt.Fprintf(out, "fsck: %s: %d objects, %d entries, %d claims, %d intents\n", verdict, r.Objects, r.Entries, r.Claims, r.Intents)
}

// finding is one line, whatever damaged rows hold.
func finding(where, what string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '.'
		}
		return r
	}, where+": "+what)
}
