// Package gate stands before the protocol SDKs and lets only strict JSON through.
//
// It promises that a body which passes is one JSON value, valid UTF-8, without
// duplicate members or trailing data, within its bounds of bytes, depth and
// values, and, through RPC, a well-formed JSON-RPC 2.0 message or batch. The
// SDKs accept more than that, and two parsers that read one body differently are
// how a check is passed with one meaning and acted on with another. It does not
// judge methods or parameters, and it tolerates unknown members of the envelope,
// as the protocols ask.
//
// Source: DESIGN, "What bad input gets".
package gate

import (
	"errors"
	"io"
	"net/http"

	"world/canon"
	"world/fault"
)

// Limits bounds one body.
type Limits struct {
	Bytes  int // of the body
	Depth  int // nesting levels
	Values int // JSON values of any kind: what parsing costs in memory goes with it
	Batch  int // messages of a JSON-RPC batch, 0 where there are none
}

const op = "gate: read"

// Read reads a body and parses it. Errors are kind Limit when a bound was hit,
// Invalid when it is not strict JSON, Timeout when the body did not arrive.
func Read(w http.ResponseWriter, r *http.Request, limits Limits) ([]byte, canon.Value, error) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(limits.Bytes)))
	if tooLarge(err) {
		return nil, canon.Value{}, fault.Wrap(op, fault.Limit, err, "the body exceeds %d bytes", limits.Bytes)
	}
	if err != nil {
		return nil, canon.Value{}, fault.Wrap(op, fault.Timeout, err, "the body did not arrive whole")
	}
	v, err := Parse(raw, limits)
	return raw, v, err
}

// Parse is Read for bytes at hand.
func Parse(raw []byte, limits Limits) (canon.Value, error) {
	if atMost := valuesBound(raw); atMost > limits.Values {
		return canon.Value{}, fault.New(op, fault.Limit, "more than %d JSON values", limits.Values)
	}
	return canon.Parse(raw, canon.Limits{Bytes: limits.Bytes, Depth: limits.Depth, Pairs: true})
}

// tooLarge reports whether reading ended at the byte bound.
func tooLarge(err error) bool {
	var over *http.MaxBytesError
	return errors.As(err, &over)
}

// valuesBound counts what opens or separates values outside strings. It is at
// least the number of values of any body that parses, and never builds one.
func valuesBound(raw []byte) int {
	n, inString := 1, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case !inString && (c == ',' || c == '[' || c == '{'):
			n++
		}
	}
	return n
}
