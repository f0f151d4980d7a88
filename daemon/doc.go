// Package daemon is the HTTP server: one route table, one guard before all of it.
//
// It promises that the listener is on loopback and nowhere else, that a request
// whose Host or Origin is not the daemon's own gets 403 before anything else
// happens, that every route is in one table with its method and its door, and
// that headers, bodies and idle connections are bounded in time and size. It
// knows no transition and decides nothing: the folders below it are the surfaces,
// and the coordinator is behind them.
//
// Source: DESIGN D18 and D22.
package daemon

// Version is what the daemon calls itself.
const Version = "0.1.0"
