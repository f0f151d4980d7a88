// Package statedir keeps what a state directory itself knows: the name of the
// daemon whose directory it is, the lock that makes it one daemon's, and the last
// log entry that was seen there.
//
// It promises that a name is drawn once and never changes, that one process at a
// time holds a directory, and that what is remembered was durable in the store
// before. It does not recognise a directory that was copied: the store does, when
// two processes write under one name.
//
// Source: DESIGN decisions D13 and D14.
package statedir
