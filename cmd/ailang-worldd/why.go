package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"world/fault"
	"world/store/why"
)

// maxTargetInput bounds a target given on stdin, in bytes.
const maxTargetInput = 4 << 10

// walkTime bounds a whole walk, in wall time.
const walkTime = 60 * time.Second

func newWhy() *cobra.Command {
	var w where
	var scan int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "why TARGET --db FILE|URL",
		Short: "Walk from a log entry or a byte to the call, the grant and the mint behind it",
		Long: "Walk the evidence behind TARGET: a log index, head, sha256:REF, an invocation id such as\n" +
			"mcp:EPISODE:TASK, the name of an intent, or - to read one of these from stdin.\n" +
			"Exit 1 when there is no such target, 3 when a link of the evidence is broken.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			target, err := targetOf(args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), walkTime)
			defer cancel()
			s, err := w.openReading(ctx)
			if err != nil {
				return err
			}
			defer s.Close()
			trail, err := why.Walk(ctx, s, target, scan)
			if err != nil {
				return err
			}
			if err := tell(cmd.OutOrStdout(), trail, asJSON); err != nil {
				return err
			}
			if !trail.Holds {
				return exit{exitIntegrity, fault.New("cli: why", fault.Corrupt, "the evidence behind %s is broken", target)}
			}
			return nil
		},
	}
	w.flags(cmd, false)
	cmd.Flags().IntVar(&scan, "scan", why.DefaultScan, "how many of the newest entries to search for a ref")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// targetOf reads the target, from stdin when it is "-".
func targetOf(arg string, stdin io.Reader) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	b, err := io.ReadAll(io.LimitReader(stdin, maxTargetInput+1))
	if err != nil {
		return "", err
	}
	if len(b) > maxTargetInput {
		return "", fault.New("cli: why", fault.Invalid, "a target has at most %d bytes", maxTargetInput)
	}
	return strings.TrimSpace(string(b)), nil
}

// tell prints a trail, for people one line a step.
func tell(out io.Writer, t why.Trail, asJSON bool) error {
	if asJSON {
		b, err := json.Marshal(t)
		if err == nil {
			_, err = fmt.Fprintf(out, "%s\n", b)
		}
		return err
	}
	for _, s := range t.Steps {
		mark := "✓"
		if s.Fault != "" {
			mark = "✗"
		}
		line := fmt.Sprintf("%s %-14s", mark, s.Part)
		if s.Ref != "" {
			line += " " + string(s.Ref)
		}
		if s.Bytes > 0 {
			line += fmt.Sprintf(" (%d bytes)", s.Bytes)
		}
		if s.Fault != "" {
			line += "  BROKEN: " + s.Fault
		}
		if s.Says != "" {
			line += "  " + s.Says
		}
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return nil
}
