// Package session turns a human's word into authority and a bearer credential
// back into it.
//
// It promises that a credential is 32 random bytes of which only the hash is
// ever stored; that authority is read from the hashed session object and never
// from the row that points to it; that minting and revoking each leave an object
// and a log entry; and that a session is live iff now < expiresAt and it is not
// revoked. It does not ask anybody (package attended does), keeps no session in
// memory, and decides no effect: the law does.
//
// Source: DESIGN D2, D4, D8 and D19.
package session
