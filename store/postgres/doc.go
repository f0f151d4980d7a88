// Package postgres keeps a world in a PostgreSQL database, for when one machine
// is not enough: many daemons may share it (D13, D14).
//
// It promises the contract of package store. Changes of a kind, intents or outcomes,
// that arrive together share one transaction. Its first half locks lease rows, then
// the head, and reads what the changes depend on; they are decided in memory, one
// after another; its second half is one statement with a part for each table, in
// which every row that was relied on is a guard read by row count, and COMMIT (D17).
// What a process last saw of rows that it alone changes, or that seldom change, may
// stand in for the first half: the guards are the same. Every transaction also
// advances a row of its writer by compare and set, so that a lost COMMIT reply is
// settled by advancing the row once more, which is the tombstone: then it has
// committed, or never can. Constraints in the schema say the invariants a second
// time: one claim an id, one intent and one entry a call, spend within the largest
// budget, a dense chained log.
//
// It uses no session state for correctness (no advisory locks, no temporary
// tables, no savepoints), so that databases which speak PostgreSQL's protocol may
// stand in for it. It does not withstand a forger: digests tell damage. The
// password of the URL appears in no error.
//
// Source: DESIGN decisions D13 to D17.
package postgres
