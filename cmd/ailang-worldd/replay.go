package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"world/confine"
	"world/coordinator/capsule"
	"world/coordinator/replay"
	"world/fault"
	"world/store"
	"world/store/record"
)

// replayFlags is what an operator says of a replay.
type replayFlags struct {
	where
	all     bool
	current bool
	floor   string
}

func newReplay() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay (INVOCATION | --all) --db FILE|URL",
		Short: "Make recorded calls again from their evidence alone and compare every byte",
		Long: "Make recorded calls again from their evidence alone, without any effect, and compare every\n" +
			"byte. Exit 3 when one diverges; its position, what is recorded and what follows from the\n" +
			"evidence are named. Calls that cannot be replayed are counted with the reason.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 1) == f.all {
				return fault.New("cli: replay", fault.Invalid, "name an invocation or say --all")
			}
			self, err := os.Executable()
			if err != nil {
				return err
			}
			worldTool := filepath.Join(filepath.Dir(self), "world-tool")
			var id store.InvocationID
			if !f.all {
				id = store.InvocationID(args[0])
			}
			return replayCalls(cmd.Context(), f, id, worldTool, cmd.OutOrStdout(), newMeter(cmd.ErrOrStderr(), cmd.CommandPath()))
		},
	}
	f.flags(cmd, true)
	flags := cmd.Flags()
	flags.BoolVar(&f.all, "all", false, "replay every call of the log")
	flags.BoolVar(&f.current, "current", false, "run this build's interpreter instead of the recorded ones")
	flags.StringVar(&f.floor, "confinement-floor", confine.Landlock.String(), "weakest confinement accepted: namespaces, landlock or process")
	return cmd
}

// tellEvery is how many replayed calls lie between two words of progress.
const tellEvery = 250

// replayCalls replays one call, or all with an empty id, in a jail of its own.
func replayCalls(ctx context.Context, f replayFlags, id store.InvocationID, worldTool string, out io.Writer, m *meter) (err error) {
	l, err := f.layout("")
	if err != nil {
		return err
	}
	floor, err := confine.ParseLevel(f.floor)
	if err != nil {
		return err
	}
	s, err := f.openReading(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	p, done, err := replayer(s, l, floor, f.current, worldTool)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if id != "" {
		r, err := p.Call(ctx, id)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, reported(r))
		if r.Verdict == replay.Diverged {
			return exit{code: exitIntegrity}
		}
		return nil
	}
	calls := int64(0)
	counts, err := p.All(ctx, func(r replay.Report) error {
		if calls++; calls%tellEvery == 0 {
			m.tell("calls", calls)
		}
		_, err := fmt.Fprintln(out, reported(r))
		return err
	})
	if err != nil {
		return err
	}
	m.total("calls", calls)
	fmt.Fprintln(out, counted(counts))
	if counts.Diverged > 0 {
		return exit{code: exitIntegrity}
	}
	return nil
}

// replayer builds the jail in which recorded programs run again, by the
// interpreters that the store keeps.
func replayer(s store.Store, l layout, floor confine.Level, current bool, worldTool string) (*replay.Replayer, func() error, error) {
	stage, err := confine.SealFile(worldTool)
	if err != nil {
		return nil, nil, err
	}
	// A replay writes nothing to the world, so its archive is its own.
	dir, err := os.MkdirTemp("", "world-replay-")
	if err != nil {
		return nil, nil, errors.Join(err, stage.Close())
	}
	remove := func() error { return errors.Join(os.RemoveAll(dir), stage.Close()) }
	archive, err := capsule.OpenArchive(dir, interpreters{s, stage}, func(store.Ref, error) {})
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	done := func() error { return errors.Join(archive.Close(), remove()) }
	hidden := []string{dir}
	if l.state != "" {
		hidden = append(hidden, l.state)
	}
	jail, err := confine.New(confine.Options{Stage: stage, Hidden: hidden})
	if err != nil {
		return nil, nil, errors.Join(err, done())
	}
	p := &replay.Replayer{Store: s, Runner: capsule.New(capsule.Options{Jail: jail, Archive: archive, Floor: floor})}
	if current {
		p.Current = stage.Ref
	}
	return p, done, nil
}

// interpreters are those of a store, and this build's.
type interpreters struct {
	store.Reader
	stage *confine.Image
}

// Object implements store.Reader.
func (i interpreters) Object(ctx context.Context, ref store.Ref) (store.Object, error) {
	if ref != i.stage.Ref {
		return i.Reader.Object(ctx, ref)
	}
	b, err := io.ReadAll(i.stage.Reader())
	return store.NewObject(record.Interpreter, "host/replay", b), err
}

// reported is one call's replay as a line.
func reported(r replay.Report) string {
	line := fmt.Sprintf("%s %q", r.Verdict, r.Invocation)
	switch r.Verdict {
	case replay.Diverged:
		line += fmt.Sprintf(" at %s: wanted %s, got %s", r.Position, r.Wanted, r.Got)
	case replay.Unreplayable:
		line += fmt.Sprintf(": %s", r.Reason)
	}
	return line
}

// counted sums a whole replay up.
func counted(c replay.Counts) string {
	line := fmt.Sprintf("replayed: %d same, %d diverged", c.Same, c.Diverged)
	for _, reason := range slices.Sorted(maps.Keys(c.Unreplayable)) {
		line += fmt.Sprintf(", %d not replayable (%s)", c.Unreplayable[reason], reason)
	}
	return line
}
