// Package admin is the operator's door of a running daemon: a Unix socket over
// which the command line asks it to mint, to revoke and to reconcile, because the
// daemon holds the store's writer lock.
//
// It promises that only a process of the daemon's own user gets in, that the
// terminal it hands over is its controlling terminal with the process in the
// foreground before and after the answer, and that the question is put and
// the answer read by the daemon itself, so that a client can neither answer nor
// reword it (D19). It does not promise that a human sits at the terminal: see
// package attended. Linux only, like the jail.
package admin
