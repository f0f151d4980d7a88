// Package why walks evidence: from a log entry, an object, an intent or a call
// to everything it rests on, down to request and result bytes and up to the grant
// that decided and the mint that made it.
//
// It promises that every object on the way was re-hashed and decoded, that every
// link was held against its other end, and that a link which does not hold is
// named while the walk goes on as far as it can. It does not decide again and
// does not run anything: fsck and replay do. Source: DESIGN D8.
package why
