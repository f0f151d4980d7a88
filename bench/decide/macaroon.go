package decide

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gopkg.in/macaroon.v2"

	"world/broker/law"
)

// errRefused is a caveat that does not hold, as opposed to a forged token.
var errRefused = errors.New("refused")

// loadMacaroons mints one macaroon a grant, since the caveats of one are all to
// hold and cannot say "or". A service that is shown n of them verifies one by one
// until one holds; a holder who knows which one to show pays for one. A token
// cannot count: its budget is what was left when it was minted.
func loadMacaroons(grants []law.Grant) (func(law.Request) Answer, error) {
	key := []byte("the root key of a session's tokens")
	tokens := make([]*macaroon.Macaroon, len(grants))
	for i, g := range grants {
		token, err := macaroon.New(key, fmt.Append(nil, "grant ", i), "world", macaroon.V2)
		if err != nil {
			return nil, err
		}
		for _, caveat := range []string{
			"effect " + string(g.Effect),
			"scope " + string(g.Scope),
			"before " + strconv.FormatInt(g.ExpiresAt, 10),
			"budget " + strconv.FormatInt(g.Budget, 10),
		} {
			if err := token.AddFirstPartyCaveat([]byte(caveat)); err != nil {
				return nil, err
			}
		}
		tokens[i] = token
	}
	return func(r law.Request) Answer {
		check := func(caveat string) error {
			if holds(caveat, r) {
				return nil
			}
			return errRefused
		}
		return func() (bool, error) {
			for _, token := range tokens {
				err := token.Verify(key, check, nil)
				if err == nil {
					return true, nil
				}
				if !errors.Is(err, errRefused) {
					return false, err
				}
			}
			return false, nil
		}
	}, nil
}

// holds checks one caveat against a request. One that it does not know does not hold.
func holds(caveat string, r law.Request) bool {
	kind, value, _ := strings.Cut(caveat, " ")
	switch kind {
	case "effect":
		return value == string(r.Effect)
	case "scope":
		return value == string(r.Scope)
	case "before":
		expires, err := strconv.ParseInt(value, 10, 64)
		return err == nil && r.Now >= 0 && r.Now < expires
	case "budget":
		budget, err := strconv.ParseInt(value, 10, 64)
		return err == nil && r.Cost >= 0 && r.Cost <= budget
	}
	return false
}
