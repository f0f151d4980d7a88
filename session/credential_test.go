package session_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"world/fault"
	"world/session"
)

const text = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

func TestTokenIsRandomAndHidden(t *testing.T) {
	a, b := session.NewToken(), session.NewToken()
	if a == b || len(a.Reveal()) != 64 {
		t.Fatalf("two tokens are equal or of a wrong length")
	}
	if back, err := session.ParseToken(a.Reveal()); err != nil || back != a {
		t.Errorf("a fresh token does not read back: %v", err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		for _, v := range []any{a, struct{ T session.Token }{a}} {
			if out := fmt.Sprintf(verb, v); strings.Contains(out, a.Reveal()) {
				t.Errorf("%s prints the credential", verb)
			}
		}
	}
}

func TestIDIsTheHashOfTheText(t *testing.T) {
	token, err := session.ParseToken(text)
	if err != nil {
		t.Fatal(err)
	}
	// printf TEXT | sha256sum
	const want = "2a8abfa8cb9906290437854193ca6bca41d4d4e26d1d454bd66a35158095e737"
	if got := token.ID(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestParseHeader(t *testing.T) {
	upper := strings.ToUpper(text)
	for _, c := range []struct {
		name   string
		values []string
		want   error
	}{
		{"good", []string{"Bearer " + text}, nil},
		{"white space", []string{" Bearer \t " + text + " "}, nil},
		{"absent", nil, session.ErrAbsent},
		{"empty", []string{""}, session.ErrMalformed},
		{"scheme alone", []string{"Bearer"}, session.ErrMalformed},
		{"other scheme", []string{"Basic " + text}, session.ErrMalformed},
		{"scheme in lower case", []string{"bearer " + text}, nil},
		{"scheme in capitals", []string{"BEARER " + text}, nil},
		{"scheme that only begins alike", []string{"Bearers " + text}, session.ErrMalformed},
		{"three fields", []string{"Bearer " + text + " x"}, session.ErrMalformed},
		{"two headers", []string{"Bearer " + text, "Bearer " + text}, session.ErrMalformed},
		{"upper case", []string{"Bearer " + upper}, session.ErrMalformed},
		{"short", []string{"Bearer " + text[1:]}, session.ErrMalformed},
		{"long", []string{"Bearer " + text + "0"}, session.ErrMalformed},
		{"not hex", []string{"Bearer g" + text[1:]}, session.ErrMalformed},
		{"no-break space", []string{"Bearer\u00a0" + text}, session.ErrMalformed},
	} {
		token, err := session.ParseHeader(c.values)
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		if c.want == nil && token.Reveal() != text {
			t.Errorf("%s: got another token", c.name)
		}
	}
}

// The texts are fixed: clients tell them apart.
func TestRefusalTexts(t *testing.T) {
	for err, want := range map[*fault.Error]string{
		session.ErrAbsent:    "session credential is absent: send Authorization: Bearer <session-credential>",
		session.ErrMalformed: "malformed Authorization header: expected Bearer <64-hex-credential>",
		session.ErrUnknown:   "unknown session credential",
		session.ErrExpired:   "session credential has expired",
	} {
		if err.Detail != want || err.Kind != fault.Unauthenticated {
			t.Errorf("got %v %q, want %q", err.Kind, err.Detail, want)
		}
	}
}
