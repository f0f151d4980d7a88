package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"world/confine"
)

// doctorFlags is what an operator asks about.
type doctorFlags struct {
	workspaces, floor string
	ceiling           confine.Level // of the fence that is tried; 0 is none
}

func newDoctor() *cobra.Command {
	var f doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Tell what the fence of this machine admits, what proves it, and how to get what is missing",
		Long: "Builds the fence as serve does, attacks it, and tells for each use whether its floor is reached.\n" +
			"Needs no daemon and no store, and leaves nothing behind. Exit code 1: a floor is not met.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			world, err := os.Executable()
			if err != nil {
				return exit{exitStore, err}
			}
			return doctor(cmd.Context(), f, filepath.Join(filepath.Dir(world), "world-tool"), cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&f.workspaces, "workspace-root", "", "look also whether programs could reach worktrees in this directory")
	cmd.Flags().StringVar(&f.floor, "confinement-floor", confine.Landlock.String(), "weakest confinement accepted, as for serve: namespaces, landlock or process")
	return cmd
}

// uses lists what runs in the jail, and the level that each needs (D26). The floor
// moves those of our own code, and never that of programs.
func uses(floor confine.Level) []confine.Use {
	return []confine.Use{
		{Name: "pure functions", Floor: floor},
		{Name: "file operations", Floor: floor},
		{Name: "programs", Floor: confine.Namespaces, Layer: true},
	}
}

// doctor examines this machine with the world-tool at a path.
func doctor(_ context.Context, f doctorFlags, worldTool string, stdout io.Writer) error {
	floor, err := confine.ParseLevel(f.floor)
	if err != nil {
		return err
	}
	stage, err := confine.SealFile(worldTool)
	if err != nil {
		return err
	}
	defer stage.Close()
	jail, err := confine.New(confine.Options{Stage: stage, Ceiling: f.ceiling})
	if err != nil {
		return err
	}
	reach, sick := jail.Reach(), false
	say := func(mark, what, detail string) { fmt.Fprintf(stdout, "%s %-29s %s\n", mark, what, detail) }
	for _, use := range uses(floor) {
		mark, needs := "✓", "level "+use.Floor.String()
		if use.Layer {
			needs += " and a private layer"
		}
		if !reach.Meets(use) {
			mark, sick = "✗", true
		}
		say(mark, use.Name, fmt.Sprintf("needs %s; this machine reaches %s", needs, reach.Level))
	}
	if f.workspaces != "" {
		path, err := filepath.Abs(f.workspaces)
		if err != nil {
			return err
		}
		if confine.Reachable(filepath.Join(path, "episode"), confine.UserOf("")) {
			say("✓", "workspace root", "programs' users can walk to worktrees in it")
		} else {
			sick = true
			say("✗", "workspace root", "programs' users cannot walk to it: it and each directory above it need mode o+x")
		}
	}
	fmt.Fprintln(stdout)
	for _, finding := range reach.Findings() {
		mark := "✓"
		if !finding.Held {
			mark = "!"
		}
		say(mark, finding.What, finding.Detail)
		if finding.Remedy != "" {
			say(" ", "", finding.Remedy)
		}
	}
	if sick {
		return exit{code: exitRefused}
	}
	return nil
}
