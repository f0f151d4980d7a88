package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"world/broker"
	"world/broker/law"
	"world/confine"
	"world/coordinator"
	"world/daemon"
	"world/daemon/admin"
	"world/daemon/mcp"
	"world/daemon/rest"
	"world/tools"
)

// endTime is how long calls that no client waits for any more may still take
// when the daemon ends.
const endTime = 2 * time.Second

// handleTools builds the coordinator with the handlers of this daemon.
func (d *boot) handleTools(ctx context.Context) error {
	handlers := map[law.Effect]broker.Handler{}
	if d.layout.workspaces == "" {
		d.log.Warn().Msg("workspace tools disabled: --workspace-root is not set; every effect-declaring transition is refused")
	} else {
		examples, err := absolute(d.flags.examples)
		if err != nil {
			return err
		}
		handler, err := tools.NewHandler(tools.Options{
			Jail: d.jail, Tool: d.flags.tool, StateDir: d.layout.state, WorkspaceRoot: d.layout.workspaces,
			Examples: examples, AllowCaps: d.flags.allowCaps, NetAllow: d.flags.netAllow, Floor: d.floor, Log: d.log,
		})
		if err != nil {
			return err
		}
		d.later(handler.Close)
		if err := handler.Check(ctx); err != nil {
			return err
		}
		d.sweep = handler.Sweep
		for _, effect := range handler.Effects() {
			handlers[effect] = handler
		}
	}
	d.calls = coordinator.New(coordinator.Options{
		Store: d.store, Handlers: handlers, Home: d.name, Log: d.log,
		Runner: d.runner,
	})
	d.later(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		return d.calls.Wait(ctx)
	})
	return nil
}

// absolute makes a path that is given absolute.
func absolute(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	return filepath.Abs(path)
}

// listen opens both doors: HTTP on loopback, and the operator's socket.
func (d *boot) listen(context.Context) error {
	listener, err := d.bind.Listen()
	if err != nil {
		return err
	}
	d.later(func() error { listener.Close(); return nil }) // closed already by a server that ran
	if d.door, err = admin.Listen(d.layout.state); err != nil {
		return err
	}
	d.later(func() error { d.door.Close(); return nil }) // likewise
	// No other daemon of this state directory serves any more, and this one not yet.
	if d.sweep != nil {
		if err := d.sweep(); err != nil {
			d.log.Warn().Err(err).Msg("worktrees were not swept")
		}
	}
	token := rest.NewToken()
	if err := token.WriteFile(d.layout.state); err != nil {
		return err
	}
	d.later(func() error { return os.Remove(filepath.Join(d.layout.state, rest.TokenFile)) })
	door := &token
	if d.flags.openReads {
		d.log.Warn().Msg("reads are open to whatever reaches the port")
		door = nil
	}
	routes := daemon.Routes(daemon.Surfaces{
		Reads: rest.New(d.store, rest.Health{
			Status: "ok", DaemonVersion: daemon.Version, InterpreterRef: d.stage.Ref,
			Confinement: d.jail.Reach().Level.String(), Floor: d.floor.String(), Uses: d.admitted(),
		}),
		Commits: rest.NewCommits(rest.CommitOptions{Store: d.store, Coordinator: d.calls}),
		MCP:     mcp.New(mcp.Options{Store: d.store, Coordinator: d.calls, Version: daemon.Version, Notice: d.notice()}),
	})
	d.server = daemon.NewServer(d.log, listener, daemon.Mux(routes, door))
	return nil
}

// notice tells every caller when the operator accepts less confinement than usual.
func (d *boot) notice() string {
	if d.floor >= confine.Landlock {
		return ""
	}
	return fmt.Sprintf(" This daemon accepts confinement level %s, below the usual %s.", d.floor, confine.Landlock)
}

// run serves until ctx ends or a door fails, then drains both.
func (d *boot) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	operator := &admin.Server{World: d.genesis.Hash, Log: d.log, Desk: d.desk()}
	var beside sync.WaitGroup
	defer beside.Wait()
	beside.Go(func() { d.keepRemembering(ctx) })
	beside.Go(func() {
		<-ctx.Done()
		d.log.Info().Msg("stopping: calls that run have 10 s to finish")
	})
	answered := make(chan error, 1)
	go func() {
		defer cancel()
		answered <- operator.Serve(ctx, d.door)
	}()
	d.greet()
	err := d.server.Run(ctx)
	cancel()
	return errors.Join(err, <-answered)
}

// greet says where the daemon listens, and what to type next.
func (d *boot) greet() {
	mint := []string{ourselves(), "session new EPISODE --repo DIR"}
	if d.layout.workspaces == "" {
		mint[1] = "session mint --episode EPISODE --grant EFFECT=SCOPE:BUDGET"
	}
	mint = append(mint, "--db", quote(d.layout.db.String()), "--state-dir", quote(d.layout.state))
	if d.layout.workspaces != "" {
		mint = append(mint, "--workspace-root", quote(d.layout.workspaces))
	}
	url := d.server.URL()
	fmt.Fprintf(d.stdout, "ailang-worldd listening on %s\n", url)
	fmt.Fprintf(d.stdout, "mint a session:   %s --out FILE\n", strings.Join(mint, " "))
	fmt.Fprintf(d.stdout, "connect a client: claude mcp add --transport http world %s/mcp --header \"Authorization: Bearer $(cat FILE)\"\n", url)
	fmt.Fprintln(d.stdout, "FILE is a new file of yours: minting writes the credential there, readable by you alone, and keeps no copy.")
}

// ourselves is how to run this program from here.
func ourselves() string {
	self, err := os.Executable()
	if err != nil {
		return program
	}
	here, err := os.Getwd()
	if err != nil {
		return quote(self)
	}
	if near, err := filepath.Rel(here, self); err == nil && filepath.IsLocal(near) {
		return quote("./" + near)
	}
	return quote(self)
}

// quote makes a path one word of a shell.
func quote(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-") == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
