package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"world/confine"
)

// serveFlags is what an operator says of a daemon.
type serveFlags struct {
	db, bind, workspaces, state, tool, floor string
	examples                                 string
	allowCaps, netAllow                      []string
	interpreter                              string // to archive and prove, "" for none
	openReads, rollback                      bool
}

func newServe() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve --db FILE|URL",
		Short: "Serve a world on loopback until interrupted",
		Long: "Serve a world on loopback until SIGINT or SIGTERM; running calls then have 10 s to finish.\n" +
			"An empty store gets its genesis entry and the built-in transitions. Several daemons may serve\n" +
			"one database, each with a state directory and worktrees of its own. The database's password is\n" +
			"better given in PGPASSWORD or a password file than in the URL.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			world, err := os.Executable()
			if err != nil {
				return exit{exitStore, err}
			}
			log := newLogger(cmd.ErrOrStderr())
			return serve(cmd.Context(), f, filepath.Join(filepath.Dir(world), "world-tool"), cmd.OutOrStdout(), log)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.db, "db", "", dbUsage)
	flags.StringVar(&f.bind, "bind", "127.0.0.1:7644", "loopback address; port 0 takes a free one")
	flags.StringVar(&f.workspaces, "workspace-root", "", "directory of the episodes' worktrees; without it no tool can act")
	flags.StringVar(&f.state, "state-dir", "", "directory of socket, read token, archive and policies (default: that of the store's file; required with a database)")
	flags.StringVar(&f.interpreter, "ailang-bin", "", "interpreter to archive for transitions that pin it; it must refuse, when tried, what it was given no capability for")
	flags.StringVar(&f.tool, "tool-ailang-bin", "", "tool binary that carries out effects; runs see the folder it lies in (default: the world-tool beside this program)")
	flags.StringVar(&f.examples, "examples-dir", "", "directory of example programs to search (default: those that world-tool has)")
	flags.StringSliceVar(&f.allowCaps, "run-allow-caps", nil, "capabilities that programs may be run with besides IO and FS: Env, Net")
	flags.StringSliceVar(&f.netAllow, "run-net-allow", nil, "loopback IP:PORT that AILANG lets programs with Net name; the jail they run in has no network")
	flags.BoolVar(&f.openReads, "open-reads", false, "serve /v1 reads without the read token to whatever reaches the port")
	flags.BoolVar(&f.rollback, "acknowledge-rollback", false, "serve a store that lacks entries which this state directory remembers, such as a restored backup; it is logged")
	flags.StringVar(&f.floor, "confinement-floor", confine.Landlock.String(), "weakest confinement accepted: namespaces, landlock or process")
	return cmd
}

// garbage is how much of it, in percent of what lives, is let gather: little lives
// in a daemon, and to look for garbage whenever that doubled would cost each call
// a sixth of its time. GOGC says otherwise.
const garbage = 400

// serve brings a daemon up, stage by stage, runs it until ctx ends, and takes it
// down again, last part first. worldTool is the path of the world-tool binary.
func serve(ctx context.Context, f serveFlags, worldTool string, stdout io.Writer, log zerolog.Logger) (err error) {
	d := &boot{flags: f, worldTool: worldTool, log: log, stdout: stdout}
	defer func() {
		err = errors.Join(err, d.close())
		if d.server != nil {
			log.Info().Msg("stopped")
		}
	}()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	if stage, err := d.start(ctx); err != nil {
		return exit{exitStore, fmt.Errorf("daemon startup failed at %s: %s", stage, startupText(err))}
	}
	return d.run(ctx)
}

// newLogger writes JSON, or lines for a person when stderr is a terminal.
func newLogger(stderr io.Writer) zerolog.Logger {
	if f, ok := stderr.(*os.File); ok {
		if _, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS); err == nil {
			stderr = zerolog.ConsoleWriter{Out: f, TimeFormat: "15:04:05"}
		}
	}
	return zerolog.New(stderr).With().Timestamp().Logger()
}
