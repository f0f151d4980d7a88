package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"world/coordinator/registry"
	"world/fault"
	"world/infile"
	"world/session"
	"world/session/attended"
	"world/store"
	"world/store/engine"
)

// answerTime is how long the phrase is waited for.
const answerTime = 60 * time.Second

func newTransitions() *cobra.Command {
	var db, file, interpreter, binary string
	cmd := &cobra.Command{
		Use:   "transitions --db FILE|URL --manifest FILE",
		Short: "Publish transitions to a store's registry",
		Long: "Publishes the transitions of a manifest, a JSON array of {id, title, description, transitionFnFile,\n" +
			"inputSchema, outputSchema, access, declaredEffects}, to the registry of a store. The daemon of a\n" +
			"file must be stopped first; those of a database go on and serve them at once.\n" +
			"The same transitions again change nothing.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return publish(cmd.Context(), db, file, interpreter, binary)
		},
	}
	cmd.Flags().StringVar(&db, "db", "", "the store: a file, or postgres://USER@HOST:PORT/NAME")
	cmd.Flags().StringVar(&file, "manifest", "", "the manifest's file")
	cmd.Flags().StringVar(&interpreter, "interpreter-ref", "", "the kept interpreter that runs them; default: that of genesis")
	cmd.Flags().StringVar(&binary, "ailang-bin", "", "an interpreter's file, which is kept in the store and runs them")
	cmd.MarkFlagsMutuallyExclusive("interpreter-ref", "ailang-bin")
	for _, name := range []string{"db", "manifest"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic("world-publish: " + err.Error())
		}
	}
	return cmd
}

// publish opens what it reads before it asks, so that a typing error fails first.
func publish(ctx context.Context, db, file, interpreter, binary string) error {
	transitions, err := readManifest(file)
	if err != nil {
		return err
	}
	program, err := readInterpreter(binary)
	if err != nil {
		return err
	}
	place, err := engine.Parse(db)
	if err != nil {
		return err
	}
	s, err := place.Open(ctx, engine.Options{})
	if fault.Is(err, fault.NotFound) {
		return stop{fence: "store", reason: "absent"}
	}
	if err != nil {
		return unopened(err)
	}
	defer s.Close()
	by, err := pinned(ctx, s, interpreter)
	if err != nil {
		return err
	}
	if err := attend(ctx, place, len(transitions)); err != nil {
		return err
	}
	now, err := session.Now(ctx, s, time.Now())
	if err != nil {
		return failure{err}
	}
	var revision registry.Revision
	var changed bool
	if program != nil {
		revision, changed, err = registry.Upgrade(ctx, s, transitions, program, now)
	} else {
		revision, changed, err = registry.Publish(ctx, s, transitions, by, now)
	}
	if err != nil {
		return failure{err}
	}
	if !changed {
		fmt.Printf("UNCHANGED at revision %d\n", revision.Revision)
		return nil
	}
	fmt.Printf("published %d transitions as revision %d, %s\n", len(transitions), revision.Revision, revision.Ref)
	return nil
}

// readInterpreter reads an interpreter's file, nil for no name.
func readInterpreter(file string) ([]byte, error) {
	if file == "" {
		return nil, nil
	}
	program, err := infile.Read(file, store.MaxObject)
	if err != nil {
		return nil, bad("the interpreter: %s", fault.Detail(err))
	}
	if len(program) == 0 {
		return nil, bad("an interpreter is 1 to %d bytes", store.MaxObject)
	}
	return program, nil
}

// unopened says why a store could not be opened for publishing.
func unopened(err error) stop {
	if fault.Is(err, fault.Locked) {
		return stop{"store", "locked", fmt.Errorf("a daemon serves this store, stop it first: %s", fault.Detail(err))}
	}
	return stop{"store", "unopenable", err}
}

// pinned returns the interpreter that the published transitions name.
func pinned(ctx context.Context, s store.Store, ref string) (store.Ref, error) {
	if ref != "" {
		return store.ParseRef(ref)
	}
	genesis, err := s.Entry(ctx, 0)
	if err != nil {
		return "", stop{"store", "no-genesis", err}
	}
	return genesis.Interpreter, nil
}

// attend is the fence: no continuous integration, a controlling terminal, a phrase.
func attend(ctx context.Context, place engine.Place, n int) error {
	for _, name := range []string{"CI", "GITHUB_ACTIONS"} {
		if os.Getenv(name) != "" {
			return stop{fence: "ci", reason: strings.ToLower(name)}
		}
	}
	terminal, err := attended.Open()
	if err != nil {
		return stop{"tty", "no-controlling-terminal", err}
	}
	defer terminal.Close()
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	if err := terminal.Phrase(ctx, nil, fmt.Sprintf("publish %d transitions to %s", n, place)); err != nil {
		return stop{fence: "confirmation", err: err}
	}
	return nil
}
