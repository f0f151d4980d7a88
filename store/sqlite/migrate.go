package sqlite

import (
	"fmt"
	"slices"
	"strconv"
	"sync"

	"world/fault"
	"world/store"
	"world/store/rows"
)

// makeSchema gives an empty file the current schema.
func makeSchema(c *conn) error { return bringTo(c, 0) }

// prepareSchema brings a file that this process alone writes to the current
// schema and to WAL. Everything is checked before the first byte is written.
func prepareSchema(c *conn) error {
	version, err := schemaVersion(c)
	if err != nil {
		return err
	}
	if version == 0 {
		return rows.Damaged("the file holds no tables")
	}
	if err := checkVersion(c, version); err != nil {
		return err
	}
	return bringTo(c, version)
}

// bringTo goes on from a version to the current one.
func bringTo(c *conn, version int) error {
	if _, err := c.row(func(row rows.Scanner) error { var mode string; return row.Scan(&mode) }, "PRAGMA journal_mode = WAL"); err != nil {
		return err
	}
	if version < len(migrations) {
		if err := migrate(c, migrations, version); err != nil {
			return err
		}
	}
	return checkSchema(c)
}

// schemaVersion reads the version of a file, 0 for an empty one, and refuses a
// file that is not ours or newer than this build.
func schemaVersion(c *conn) (int, error) {
	const op = "sqlite: open"
	version, err := pragmaInt(c, "user_version")
	if err != nil {
		return 0, err
	}
	app, err := pragmaInt(c, "application_id")
	if err != nil {
		return 0, err
	}
	var tables int
	if _, err := c.row(func(row rows.Scanner) error { return row.Scan(&tables) }, "SELECT count(*) FROM sqlite_schema"); err != nil {
		return 0, err
	}
	if tables == 0 && version == 0 && app == 0 {
		return 0, nil
	}
	// The tables are a second witness, so that damage to the header is not taken
	// for another version.
	noted, noteErr := readMeta(c, metaSchema)
	switch {
	case noteErr == nil && (noted != int64(version) || app != applicationID):
		return 0, fault.New(op, fault.Corrupt, "the header and the tables disagree on the schema version")
	case app != applicationID:
		return 0, fault.New(op, fault.Version, "the file is not a store of this program")
	case noteErr != nil:
		return 0, fault.Wrap(op, fault.Corrupt, noteErr, "the schema version cannot be read")
	case version < 1 || version > len(migrations):
		return 0, fault.New(op, fault.Version, "schema version %d, this build knows up to %d; nothing was changed", version, len(migrations))
	}
	return version, nil
}

// migrate applies the migrations above a version in one transaction.
func migrate(c *conn, migrations []string, from int) error {
	if err := c.begin(); err != nil {
		return err
	}
	err := func() error {
		for _, m := range migrations[from:] {
			if err := c.script(m); err != nil {
				return err
			}
		}
		if err := writeMeta(c, metaSchema, int64(len(migrations))); err != nil {
			return err
		}
		if from == 0 {
			if err := writeMeta(c, metaFence, 0); err != nil {
				return err
			}
			d := store.ClockDigest(0)
			if _, err := c.exec("INSERT INTO clock (id, at, digest) VALUES (1, 0, ?)", d[:]); err != nil {
				return err
			}
		}
		return c.script(fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", len(migrations), applicationID))
	}()
	if err != nil {
		c.rollback()
		return err
	}
	return c.commit()
}

// checkSchema compares the file's schema with the one this build writes.
func checkSchema(c *conn) error {
	version, err := schemaVersion(c)
	if err != nil {
		return err
	}
	if version != len(migrations) {
		return fault.New("sqlite: open", fault.Version, "schema version %d needs a writer to migrate it to %d", version, len(migrations))
	}
	return checkVersion(c, version)
}

func checkVersion(c *conn, version int) error {
	lines, err := schemaDifferences(c, version)
	if err == nil && len(lines) > 0 {
		err = rows.Damaged("the schema is not the one of version %d: %s", version, lines[0])
	}
	return err
}

// schemaDifferences names what the file has too much, too little or otherwise.
func schemaDifferences(c *conn, version int) ([]string, error) {
	found, err := schemaText(c)
	if err != nil {
		return nil, err
	}
	var lines []string
	want := wantSchemas()[version-1]
	for name, text := range want {
		if got, ok := found[name]; !ok {
			lines = append(lines, name+" is missing")
		} else if got != text {
			lines = append(lines, name+" is not as this build writes it")
		}
	}
	for name := range found {
		if _, ok := want[name]; !ok {
			lines = append(lines, name+" does not belong here")
		}
	}
	slices.Sort(lines)
	return lines, nil
}

// schemaText returns every item of the schema by its kind and name.
func schemaText(c *conn) (map[string]string, error) {
	items := map[string]string{}
	err := c.each(func(row rows.Scanner) error {
		var kind, name, table string
		var text any // NULL for the index behind a constraint
		if err := row.Scan(&kind, &name, &table, &text); err != nil {
			return rows.Damaged("the schema does not decode")
		}
		items[kind+" "+strconv.Quote(name)] = fmt.Sprint(table, ": ", text)
		return nil
	}, "SELECT type, name, tbl_name, sql FROM sqlite_schema")
	return items, err
}

// wantSchemas asks SQLite itself what a fresh store of each version looks like.
var wantSchemas = sync.OnceValue(func() []map[string]string {
	c, err := connect("/schema", inMemory)
	if err != nil {
		panic("sqlite: no memory database: " + err.Error())
	}
	defer c.close()
	var all []map[string]string
	for _, m := range migrations {
		if err := c.script(m); err != nil {
			panic("sqlite: a migration does not apply: " + err.Error())
		}
		items, err := schemaText(c)
		if err != nil {
			panic("sqlite: a schema does not read back: " + err.Error())
		}
		all = append(all, items)
	}
	return all
})

func pragmaInt(c *conn, name string) (int, error) {
	var n int
	_, err := c.row(func(row rows.Scanner) error { return row.Scan(&n) }, "PRAGMA "+name)
	return n, err
}

// Keys of the engine's own bookkeeping.
const (
	metaSchema = "schema" // version of the schema
	metaFence  = "fence"  // counts the commits whose only use is to lie behind others
)

func readMeta(c *conn, key string) (int64, error) {
	var value string
	found, err := c.row(func(row rows.Scanner) error {
		return rows.Whole(row, &value, func(string) string { return "meta " + strconv.Quote(key) },
			func(value string) store.Digest { return store.MetaDigest(key, value) }, &value)
	}, "SELECT value, digest FROM meta WHERE key = ?", key)
	if err == nil && !found {
		err = rows.Damaged("meta %q is missing", key)
	}
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return 0, rows.Damaged("meta %q is not a number", key)
	}
	return n, nil
}

func writeMeta(c *conn, key string, n int64) error {
	value := strconv.FormatInt(n, 10)
	d := store.MetaDigest(key, value)
	_, err := c.exec("INSERT INTO meta (key, value, digest) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value, digest = excluded.digest", key, value, d[:])
	return err
}
