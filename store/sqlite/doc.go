// Package sqlite keeps a world in one SQLite file: the engine that needs nothing
// installed.
//
// It promises the contract of package store with one writing process, held by an
// OS lock beside the file (D14) and another on the file itself, which has more names
// than one when it is linked: WAL with synchronous=FULL, so that what is
// acknowledged survives a power cut as far as the disk keeps its word. Writes go
// through one connection, several waiting ones in one transaction; reads go
// through others and see the last committed state. It does not promise to run
// on network file systems, nor to withstand a forger: digests tell damage.
//
// A store is refused, and not shortened in silence, when its write-ahead log is
// damaged before the last transaction, when it does not reach the commit that its
// writer noted in the lock file, when its file is empty or gone while its log is
// there, and when a rollback journal lies beside it. Without the note, damage to the
// very last transaction of a killed store looks like a crash. A log that is gone
// whole looks like one that was moved into the file: what was committed since, some
// five seconds unless a reader holds it up, may then be missing, and only who
// remembers the head elsewhere sees that.
//
// Source: DESIGN decisions D13 to D17.
package sqlite
