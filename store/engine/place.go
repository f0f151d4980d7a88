package engine

import (
	"net/url"
	"path/filepath"
	"strings"

	"world/fault"
)

// Place is where a store is.
type Place struct {
	file string // absolute path of a SQLite file, "" for a database
	url  string // of a PostgreSQL database, with everything it was given with
}

// Parse reads what --db says. Invalid when it is empty, holds a control
// character, or is a database URL that does not parse; the error repeats nothing
// of it, because a URL may hold a password anywhere.
func Parse(db string) (Place, error) {
	const op = "store: place"
	switch {
	case db == "":
		return Place{}, fault.New(op, fault.Invalid, "--db is required")
	case strings.ContainsFunc(db, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return Place{}, fault.New(op, fault.Invalid, "--db holds a control character")
	case Database(db):
		if u, err := url.Parse(db); err != nil || u.Opaque != "" {
			return Place{}, fault.New(op, fault.Invalid, "the database url does not parse; it is postgres://USER@HOST:PORT/NAME")
		}
		return Place{url: db}, nil
	}
	file, err := filepath.Abs(db)
	return Place{file: file}, err
}

// Database reports whether what --db says names a database and not a file.
func Database(db string) bool {
	return strings.HasPrefix(db, "postgres://") || strings.HasPrefix(db, "postgresql://")
}

// File is the path of the store's file, "" when a database keeps it.
func (p Place) File() string { return p.file }

// Shared reports whether several processes may write the store at one time.
func (p Place) Shared() bool { return p.url != "" }

// secretSettings are those of a URL's query that hold secrets.
var secretSettings = []string{"password", "sslpassword"}

// String names the place as --db takes it, without any password: whoever uses it
// gives that by PGPASSWORD or a password file, as with other programs of PostgreSQL.
func (p Place) String() string {
	if p.url == "" {
		return p.file
	}
	u, err := url.Parse(p.url)
	if err != nil {
		panic("engine: a place holds a url that was not parsed")
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	q := u.Query()
	for _, name := range secretSettings {
		q.Del(name)
	}
	u.RawQuery, u.Fragment, u.RawFragment = strings.ReplaceAll(q.Encode(), "%2F", "/"), "", ""
	return u.String()
}
