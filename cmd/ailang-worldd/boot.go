package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"world/cmd/internal/statedir"
	"world/confine"
	"world/coordinator"
	"world/coordinator/capsule"
	"world/coordinator/registry"
	"world/daemon"
	"world/daemon/admin"
	"world/fault"
	"world/session"
	"world/store"
	"world/store/engine"
	"world/tools"
)

// workers is how many processes may wait behind the fence for the next call, all
// episodes together.
const workers = 16

// startTime bounds the whole start.
const startTime = 30 * time.Second

// boot is a daemon on its way up, and what it must take down again.
type boot struct {
	flags     serveFlags
	worldTool string
	log       zerolog.Logger
	stdout    io.Writer

	layout  layout
	bind    daemon.Bind
	floor   confine.Level
	store   engine.Store
	name    store.HomeID   // of this daemon
	stage   *confine.Image // world-tool: first stage of the jail, and the interpreter of this build
	jail    *confine.Jail
	lost    string // what of the state directory's memory the store lacks, "" for nothing
	archive *capsule.Archive
	runner  *capsule.Jailed
	genesis store.Entry
	calls   *coordinator.Coordinator
	sweep   func() error // worktrees, of what killed calls left in them; nil without a workspace root
	server  *daemon.Server
	door    *admin.Listener

	closers []func() error // in the order of opening
}

// start runs the stages in order. The first error ends it and names its stage.
func (d *boot) start(ctx context.Context) (stage string, err error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for _, s := range []struct {
		stage string
		do    func(context.Context) error
	}{
		{"bind-policy", d.readBind},
		{"config", d.readLayout},
		{"rollback", d.checkPresence},
		{"store-open", d.openStore},
		{"rollback", d.checkRollback},
		{"archive", d.openArchive},
		{"confinement", d.buildJail},
		{"registry-bootstrap", d.bootstrap},
		{"remember", d.remember},
		{"integrity", d.scan},
		{"tools", d.handleTools},
		{"listen", d.listen},
	} {
		if err := s.do(ctx); err != nil {
			return s.stage, err
		}
	}
	return "", nil
}

// close takes down what start brought up, last part first.
func (d *boot) close() error {
	var errs []error
	for _, closer := range slices.Backward(d.closers) {
		errs = append(errs, closer())
	}
	d.closers = nil
	return errors.Join(errs...)
}

func (d *boot) later(closer func() error) { d.closers = append(d.closers, closer) }

func (d *boot) readBind(context.Context) (err error) {
	d.bind, err = daemon.ParseBind(d.flags.bind)
	return err
}

func (d *boot) readLayout(context.Context) (err error) {
	if d.floor, err = confine.ParseLevel(d.flags.floor); err != nil {
		return err
	}
	if d.layout, err = newLayout(d.flags.db, d.flags.state, d.flags.workspaces); err != nil {
		return err
	}
	if d.layout.state == "" {
		return fault.New("serve: config", fault.Invalid, "--state-dir is required with a database")
	}
	if err = d.layout.check(); err != nil {
		return err
	}
	return d.layout.make()
}

// openStore opens the store under the name of the state directory. Two processes
// must not share a database under one name, so the directory is locked first; a
// file has a lock of its own.
func (d *boot) openStore(ctx context.Context) (err error) {
	if d.layout.db.Shared() {
		lock, err := statedir.Lock(d.layout.state)
		if err != nil {
			return err
		}
		d.later(lock.Close)
	}
	if d.name, err = d.layout.home(); err != nil {
		return err
	}
	if d.store, err = d.layout.db.Open(ctx, engine.Options{Create: true, Owner: string(d.name)}); err != nil {
		return err
	}
	d.later(d.store.Close)
	return nil
}

// openArchive copies world-tool into memory that cannot change any more, and opens
// the archive of this and all earlier interpreters.
func (d *boot) openArchive(context.Context) (err error) {
	if d.stage, err = confine.SealFile(d.worldTool); err != nil {
		return err
	}
	d.later(d.stage.Close)
	healed := func(ref store.Ref, was error) {
		d.log.Warn().Err(was).Str("interpreter", string(ref)).Msg("an archived interpreter was damaged and is written anew from the store")
	}
	if d.archive, err = capsule.OpenArchive(d.layout.archive(), d.store, healed); err != nil {
		return err
	}
	d.later(d.archive.Close)
	return nil
}

func (d *boot) buildJail(context.Context) (err error) {
	hidden := []string{d.layout.state}
	if d.layout.workspaces != "" {
		hidden = append(hidden, d.layout.workspaces)
	}
	if d.jail, err = confine.New(confine.Options{Stage: d.stage, Hidden: hidden, Workers: workers}); err != nil {
		return err
	}
	d.later(d.jail.Close)
	reach := d.jail.Reach()
	line := d.log.Info()
	if reach.Level < d.floor {
		line = d.log.Warn()
	}
	d.runner = capsule.New(capsule.Options{Jail: d.jail, Archive: d.archive, Floor: d.floor})
	line.Stringer("reach", reach).Stringer("floor", d.floor).Interface("admitted", d.admitted()).Msg("confinement")
	return nil
}

// admitted tells of each use of the jail whether its floor is reached.
func (d *boot) admitted() map[string]bool {
	admitted := map[string]bool{}
	for _, use := range uses(d.floor) {
		admitted[use.Name] = d.jail.Reach().Meets(use)
	}
	return admitted
}

// bootstrap begins an empty store, and tells where the registry of another serves
// other built-ins than this binary's: that changes only by an operator's word (D30).
func (d *boot) bootstrap(ctx context.Context) error {
	interpreter, err := io.ReadAll(d.stage.Reader())
	if err != nil {
		return err
	}
	now, err := session.Now(ctx, d.store, time.Now())
	if err != nil {
		return err
	}
	report, err := registry.Bootstrap(ctx, d.store, tools.Builtins(), interpreter, now)
	if err != nil {
		return err
	}
	if report.Began {
		d.log.Info().Str("registry", string(report.Registry)).Msg("an empty store has begun")
	}
	for _, differs := range report.Differ {
		d.log.Warn().Str("transition", string(differs.ID)).Strs("differs", differs.What).
			Msg("this binary's built-in is not what the registry serves; nothing was changed: registry upgrade takes it over")
	}
	if len(report.Differ) > 0 {
		fmt.Fprintf(d.stdout, "registry: %d of this binary's built-ins are not served as they are here; see registry upgrade\n", len(report.Differ))
	}
	if d.genesis, err = d.store.Entry(ctx, 0); err != nil {
		return err
	}
	return d.archiveInterpreters(ctx)
}

// archiveInterpreters brings every interpreter that the registry pins from the
// store into the archive, and proves it. One that is missing fails the calls that need it.
func (d *boot) archiveInterpreters(ctx context.Context) error {
	current, err := registry.Current(ctx, d.store)
	if err != nil {
		return err
	}
	for _, served := range current.Entries {
		if _, err := d.runner.Prove(ctx, served.Interpreter); err != nil {
			d.log.Error().Err(err).Str("transition", string(served.ID)).Msg("its interpreter is not available")
		}
	}
	return d.admitInterpreter(ctx)
}

// admitInterpreter archives the interpreter that the operator names, so that
// transitions may pin it, and proves that it grants a program nothing unasked.
func (d *boot) admitInterpreter(ctx context.Context) error {
	if d.flags.interpreter == "" {
		return nil
	}
	ref, err := d.archive.Add(d.flags.interpreter)
	if err != nil {
		return err
	}
	name, err := d.runner.Prove(ctx, ref)
	if err != nil {
		return err
	}
	d.log.Info().Str("interpreter", string(ref)).Str("speaks", name).Msg("an interpreter is archived and proved")
	return nil
}
