package postgres

import (
	"context"
	"crypto/rand"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"world/fault"
	"world/store"
	"world/store/batch"
)

// Options says how to open a store. The zero value opens it for writing under a
// name made up for this process.
type Options struct {
	ReadOnly bool // write nothing, apply no migration

	// Owner names the process to others who share the database, and to itself after
	// a restart: leases that an earlier process of this name left are ended at once.
	// No two processes may live under one name; the older one is locked out if they
	// do. 1 to 64 bytes of A-Z a-z 0-9 . _ -, or "".
	Owner string

	// Lease is how long an episode's lease lasts without being renewed; 10 s when 0.
	// It is renewed three times in that time.
	Lease time.Duration

	// Handler is how long an effect may go on after its lease has ended: a takeover
	// waits so much longer. 15 s when 0.
	Handler time.Duration

	// Idle is how long a lease that another process asked for must have been unused
	// before it is given up; 5 s when 0.
	Idle time.Duration

	// Step is how long the server may take to answer before it is taken to hang, 10 s
	// when 0, up to a tenth longer.
	Step time.Duration

	// Readers is how many connections read at once; 8 when 0.
	Readers int

	// Sealed opens a store for writing though it is held or sealed (store.Seal).
	Sealed bool
}

func (o Options) withDefaults() Options {
	for field, value := range map[*time.Duration]time.Duration{&o.Lease: 10 * time.Second, &o.Handler: 15 * time.Second, &o.Idle: 5 * time.Second, &o.Step: 10 * time.Second} {
		if *field <= 0 {
			*field = value
		}
	}
	if o.Readers <= 0 {
		o.Readers = 8
	}
	return o
}

// Store is a world in one PostgreSQL database.
type Store struct {
	config  *pgx.ConnConfig
	pool    *pgxpool.Pool
	asking  *batch.Queue[[]query] // of readers
	lane    *lane                 // nil when read-only
	leases  *leases
	glances glances
	step    time.Duration // see Options
	named   bool          // the owner's name was given, and outlives the process
	closing sync.Once
	shut    atomic.Bool
}

var _ store.Store = (*Store)(nil)

// Open opens the store in a database, for writing unless opts says otherwise. A
// writer makes the schema if there is none and migrates an older one. Invalid: the
// URL or an option. Unavailable: the database cannot be reached. Version: a newer
// schema or another program's, left untouched. Corrupt: the schema is damaged.
// NotFound: there is no store to read. ctx bounds the opening alone.
func Open(ctx context.Context, url string, opts Options) (*Store, error) {
	const op = "postgres: open"
	opts = opts.withDefaults()
	named := opts.Owner != ""
	if !named {
		opts.Owner = "process-" + rand.Text()
	} else if _, err := store.ParseTask(opts.Owner); err != nil || len(opts.Owner) > 64 {
		return nil, fault.New(op, fault.Invalid, "an owner's name is 1 to 64 bytes of A-Z a-z 0-9 . _ -")
	}
	config, err := parse(url)
	if err != nil {
		return nil, err
	}
	s := &Store{config: config, named: named, step: opts.Step}
	s.asking = batch.New(askLimit, s.answer)
	if err := s.open(ctx, opts); err != nil {
		s.release()
		return nil, asFault(ctx, op, err)
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, opts Options) error {
	poolConfig, err := pgxpool.ParseConfig("")
	if err != nil {
		return err
	}
	poolConfig.ConnConfig = s.config
	poolConfig.MaxConns = int32(opts.Readers)
	poolConfig.AfterConnect = func(ctx context.Context, c *pgx.Conn) error { return prepareSession(ctx, c, settingsOfReader) }
	if s.pool, err = pgxpool.NewWithConfig(context.WithoutCancel(ctx), poolConfig); err != nil {
		return err
	}
	if opts.ReadOnly {
		return s.checkSchema(ctx)
	}
	if err := s.migrate(ctx); err != nil {
		return err
	}
	if err := s.checkSchema(ctx); err != nil {
		return err
	}
	connect := func(ctx context.Context, warn func()) (*pgx.Conn, error) {
		return dial(ctx, s.config, settingsOfWriter, warn)
	}
	m, life := &memory{}, rand.Text()
	m.forget()
	s.lane = newLane(opts.Owner, life, opts.Step, m, connect)
	s.lane.sealed = opts.Sealed
	if err := s.lane.ready(ctx); err != nil {
		return err
	}
	s.leases = newLeases(s.lane, terms{opts.Lease, opts.Handler}, opts.Idle)
	if err := s.leases.endEarlier(ctx, s.pool); err != nil {
		return err
	}
	s.leases.start()
	return nil
}

// Close implements store.Store. A second Close does nothing. Leases are given up
// if the database can be reached, and end by themselves if not.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.shut.Store(true)
		if s.leases != nil {
			s.leases.stop()
		}
		s.release()
	})
	return nil
}

// release lets go of every connection.
func (s *Store) release() {
	if s.lane != nil {
		s.lane.queue.Close()
		s.lane.leave(!s.named)
	}
	s.asking.Close()
	if s.pool != nil {
		s.pool.Close()
	}
}

func (s *Store) writable(op string) error {
	if s.lane == nil {
		return fault.New(op, fault.Unavailable, "the store is open for reading only")
	}
	return nil
}
