// Package rest serves the evidence of a world over HTTP, read only.
//
// It promises one error envelope with a closed list of classes, strict query
// parameters, bounded pages, and that no answer holds a host path, a cause or a
// secret: what went wrong inside is in the log alone. Whoever reads here sees
// every episode's evidence, so each route needs the read token unless the
// operator opened reads (D22). It writes nothing.
package rest
