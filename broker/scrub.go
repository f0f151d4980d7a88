package broker

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"world/store"
)

const (
	redacted  = "[redacted]"
	maxDetail = 4096           // bytes of a stored failure text
	maxRaw    = 64 * maxDetail // bytes of it that are read
	tokenSize = 64             // hex digits of a credential
)

// clean readies a handler's failure text for storing: without known secrets and
// without the credential of the call's own session, bounded, valid UTF-8, no NUL,
// never empty. Secrets go before the cut, so that no half of one is left.
func (i *Invoker) clean(text string) string {
	if len(text) > maxRaw {
		text = text[:maxRaw]
	}
	for _, secret := range i.broker.Secrets() {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, redacted)
		}
	}
	text = redactCredential(text, i.call.Session.Credential)
	if len(text) > maxDetail {
		text = text[:maxDetail]
	}
	text = strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")
	if strings.TrimSpace(text) == "" {
		return "the handler gave no reason"
	}
	return text
}

// redactCredential removes every token that hashes to this credential id. The
// token itself is known to nobody here.
func redactCredential(text string, id store.CredentialID) string {
	for at := 0; at+tokenSize <= len(text); at++ {
		window := text[at : at+tokenSize]
		if n := hexPrefix(window); n < tokenSize {
			at += n
			continue
		}
		sum := sha256.Sum256([]byte(window))
		if hex.EncodeToString(sum[:]) == string(id) {
			text = text[:at] + redacted + text[at+tokenSize:]
		}
	}
	return text
}

// hexPrefix counts the lowercase hex digits that s begins with.
func hexPrefix(s string) int {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return i
		}
	}
	return len(s)
}
