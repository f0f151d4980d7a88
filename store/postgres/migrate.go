package postgres

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"world/fault"
	"world/store"
	"world/store/rows"
)

// querier is a connection, a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// readMeta returns a row of the bookkeeping, nil when there is none.
func readMeta(ctx context.Context, q querier, key, lock string) (*metaRow, error) {
	found, err := collect(ctx, q, scanMeta, "SELECT "+metaColumns+" FROM world.meta WHERE key = $1"+lock, key)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// schemaVersion reads the version of a database, 0 for one without our schema, and
// refuses a schema that is not ours or newer than this build.
func schemaVersion(ctx context.Context, q querier) (int, error) {
	const op = "postgres: open"
	var tables, metas int
	err := q.QueryRow(ctx, "SELECT count(*), count(*) FILTER (WHERE table_name = 'meta') FROM information_schema.tables "+
		"WHERE table_schema = 'world'").Scan(&tables, &metas)
	if err != nil || tables == 0 {
		return 0, err
	}
	if metas == 0 {
		return 0, fault.New(op, fault.Version, "the schema world is not a store of this program")
	}
	row, err := readMeta(ctx, q, metaSchema, "")
	if err != nil {
		return 0, err
	}
	if row == nil {
		return 0, rows.Damaged("the schema version is missing")
	}
	version, err := strconv.Atoi(row.value)
	if err != nil {
		return 0, rows.Damaged("%s is not a number", metaWhere(*row))
	}
	if version < 1 || version > len(migrations) {
		return 0, fault.New(op, fault.Version, "schema version %d, this build knows up to %d; nothing was changed", version, len(migrations))
	}
	return version, nil
}

// migrate applies the migrations that a database lacks, in one transaction. Two
// processes may begin at once: one of them fails and finds the other's work.
func (s *Store) migrate(ctx context.Context) (err error) {
	for range attempts {
		var version int
		if version, err = schemaVersion(ctx, s.pool); err != nil || version == len(migrations) {
			return err
		}
		err = pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{}, func(tx pgx.Tx) error {
			return migrateFrom(ctx, tx, migrations, version)
		})
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

func migrateFrom(ctx context.Context, tx pgx.Tx, migrations []string, version int) error {
	write := func(query string, args ...any) error {
		tag, err := tx.Exec(ctx, query, args...)
		if err == nil && tag.RowsAffected() != 1 {
			err = fmt.Errorf("the schema changed while it was migrated")
		}
		return err
	}
	is := metaRow{metaSchema, strconv.Itoa(len(migrations))}
	d := is.digest()
	if version > 0 {
		err := write("UPDATE world.meta SET value = $1, digest = $2 WHERE key = $3 AND value = $4", is.value, d[:], is.key, strconv.Itoa(version))
		if err != nil {
			return err
		}
	}
	for _, m := range migrations[version:] {
		if _, err := tx.Exec(ctx, m, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
	}
	if version > 0 {
		return nil
	}
	if err := write("INSERT INTO world.meta (key, value, digest) VALUES ($1, $2, $3)", is.key, is.value, d[:]); err != nil {
		return err
	}
	d = store.ClockDigest(0)
	return write("INSERT INTO world.clock (id, at, digest) VALUES (1, 0, $1)", d[:])
}

// checkSchema compares the database's schema with the one this build writes.
func (s *Store) checkSchema(ctx context.Context) error {
	const op = "postgres: open"
	version, err := schemaVersion(ctx, s.pool)
	switch {
	case err != nil:
		return err
	case version == 0:
		return fault.New(op, fault.NotFound, "there is no store in this database")
	case version != len(migrations):
		return fault.New(op, fault.Version, "schema version %d needs a writer to migrate it to %d", version, len(migrations))
	}
	lines, err := catalogueDifferences(ctx, s.pool)
	if err == nil && len(lines) > 0 {
		err = rows.Damaged("the schema is not the one of version %d: %s", version, lines[0])
	}
	return err
}
