// Package engine opens a store by what --db says: the path of a SQLite file, or
// the URL of a PostgreSQL database.
//
// It promises that a password which the URL holds is in no text that it returns
// or that a Place prints, and that nothing but Options.Create makes a store. It
// keeps nothing itself: the engines do.
//
// Source: DESIGN decision D13.
package engine
