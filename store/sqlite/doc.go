// Package sqlite keeps a world in one SQLite file: the engine that needs nothing
// installed.
//
// It promises the contract of package store with one writing process, held by an
// OS lock beside the file (D14): WAL with synchronous=FULL, so that what is
// acknowledged survives a power cut as far as the disk keeps its word. Writes go
// through one connection, several waiting ones in one transaction; reads go
// through others and see the last committed state. It does not promise to run
// on network file systems, nor to withstand a forger: digests tell damage.
//
// Source: DESIGN decisions D13 to D17.
package sqlite
