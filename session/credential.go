package session

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"world/store"
)

// tokenBytes is the strength of a credential.
const tokenBytes = 32

// Token is a credential's text, 64 lowercase hex digits. It prints as a
// placeholder, so that no log shows it by accident; Reveal gives the text.
type Token struct{ text string }

// NewToken draws a fresh credential.
func NewToken() Token {
	var b [tokenBytes]byte
	rand.Read(b[:]) // never fails: the process would have ended
	return Token{hex.EncodeToString(b[:])}
}

// ParseToken accepts exactly 64 lowercase hex digits; else ErrMalformed.
func ParseToken(text string) (Token, error) {
	if _, err := store.ParseCredentialID(text); err != nil { // the same shape
		return Token{}, ErrMalformed
	}
	return Token{text}, nil
}

// ParseHeader reads the values of an Authorization header: one of the form
// "Bearer TOKEN". ErrAbsent without a value, ErrMalformed otherwise.
func ParseHeader(values []string) (Token, error) {
	text, err := Bearer(values)
	if err != nil {
		return Token{}, err
	}
	return ParseToken(text)
}

// Bearer returns what follows the scheme in the values of an Authorization
// header. The scheme's letters may be of either case (RFC 9110 §11.1). ErrAbsent
// without a value, ErrMalformed otherwise.
func Bearer(values []string) (string, error) {
	if len(values) == 0 {
		return "", ErrAbsent
	}
	fields := strings.FieldsFunc(values[0], func(r rune) bool { return r == ' ' || r == '\t' })
	if len(values) > 1 || len(fields) != 2 || !strings.EqualFold(fields[0], "Bearer") {
		return "", ErrMalformed
	}
	return fields[1], nil
}

// Reveal returns the text to hand out, once.
func (t Token) Reveal() string { return t.text }

// String hides the text.
func (t Token) String() string { return "[credential]" }

// GoString hides the text.
func (t Token) GoString() string { return t.String() }

// ID returns the name under which the session is stored: the sha256 of the text.
func (t Token) ID() store.CredentialID {
	sum := sha256.Sum256([]byte(t.text))
	return store.CredentialID(hex.EncodeToString(sum[:]))
}
