package rest

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"os"
	"path/filepath"

	"world/session"
)

// TokenFile is the name of the read token's file within the state directory.
const TokenFile = "read-token"

// Token opens the reads. It prints as a placeholder and is compared by hash.
type Token struct{ text string }

// NewToken draws 32 random bytes.
func NewToken() Token {
	var b [32]byte
	rand.Read(b[:]) // never fails: the process would have ended
	return Token{hex.EncodeToString(b[:])}
}

// String hides the text.
func (t Token) String() string { return "[read token]" }

// GoString hides the text.
func (t Token) GoString() string { return t.String() }

// WriteFile leaves the token, 0600, in the state directory, in the place of an
// earlier one. A link of that name is replaced, never followed.
func (t Token) WriteFile(stateDir string) error {
	f, err := os.CreateTemp(stateDir, TokenFile+".*") // 0600 and exclusive
	if err != nil {
		return err
	}
	_, err = f.WriteString(t.text + "\n")
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(stateDir, TokenFile))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// Protect lets requests through that present the token.
func (t Token) Protect(next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(t.text))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="world reads"`)
		values := r.Header.Values("Authorization")
		if len(values) == 0 {
			Refuse(w, ReadTokenAbsent, "reads need the read token: send Authorization: Bearer <token from the file read-token in the state directory>")
			return
		}
		text, err := session.Bearer(values)
		got := sha256.Sum256([]byte(text))
		if err != nil || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			Refuse(w, ReadTokenUnknown, "the read token is not this daemon's; each start writes a new one")
			return
		}
		w.Header().Del("WWW-Authenticate")
		next.ServeHTTP(w, r)
	})
}
