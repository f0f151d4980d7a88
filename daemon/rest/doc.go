// Package rest serves the evidence of a world over HTTP, and takes the one kind of
// entry that a client may write itself.
//
// It promises one error envelope with a closed list of classes, strict query
// parameters and bodies, bounded pages, and that no answer holds a host path, a
// cause or a secret: what went wrong inside is in the log alone. Whoever reads here
// sees every episode's evidence, so each read needs the read token unless the
// operator opened reads (D22). A commit needs a session, whose grants the law asks,
// and nothing else here writes (D21).
package rest
