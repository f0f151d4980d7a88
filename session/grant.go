package session

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"world/broker/law"
	"world/fault"
	"world/store/record"
)

const (
	// MaxEffect is the longest effect name of a grant, in bytes.
	MaxEffect = 128
	// MaxScope is the longest scope of a grant, in bytes.
	MaxScope = 512
	// MaxGrants is the largest number of grants of one session.
	MaxGrants = 64
)

// ParseGrant reads EFFECT=SCOPE:BUDGET, split at the first '=' and the last ':',
// with a budget in calls from 0 to the largest int64, in plain decimal digits.
func ParseGrant(text string) (record.SessionGrant, error) {
	effect, rest, hasScope := strings.Cut(text, "=")
	colon := strings.LastIndexByte(rest, ':')
	if !hasScope || colon < 0 {
		return record.SessionGrant{}, badGrant("a grant is EFFECT=SCOPE:BUDGET")
	}
	scope, digits := rest[:colon], rest[colon+1:]
	budget, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || strconv.FormatInt(budget, 10) != digits {
		return record.SessionGrant{}, badGrant("the budget of a grant is a number of calls in plain decimal digits")
	}
	g := record.SessionGrant{Effect: law.Effect(effect), Scope: law.Scope(scope), Budget: budget}
	return g, checkGrant(g)
}

// ParseGrants reads several grants and keeps their order. Two grants of one
// (effect, scope) are refused (D2).
func ParseGrants(texts []string) ([]record.SessionGrant, error) {
	grants := make([]record.SessionGrant, 0, len(texts))
	for i, text := range texts {
		g, err := ParseGrant(text)
		if err != nil {
			return nil, fault.Wrap("session: parse grants", fault.Invalid, err, "grant %d: %s", i+1, fault.Detail(err))
		}
		grants = append(grants, g)
	}
	return grants, CheckGrants(grants)
}

// CheckGrants holds what a session promises of its grants: 1 to MaxGrants of
// them, each well formed, no two of one (effect, scope).
func CheckGrants(grants []record.SessionGrant) error {
	if len(grants) < 1 || len(grants) > MaxGrants {
		return badGrant("a session has 1 to " + strconv.Itoa(MaxGrants) + " grants")
	}
	type pair struct {
		effect law.Effect
		scope  law.Scope
	}
	seen := make(map[pair]bool, len(grants))
	for _, g := range grants {
		if err := checkGrant(g); err != nil {
			return err
		}
		if seen[pair{g.Effect, g.Scope}] {
			return badGrant("two grants of " + string(g.Effect) + "=" + string(g.Scope))
		}
		seen[pair{g.Effect, g.Scope}] = true
	}
	return nil
}

// FormatGrant writes a grant as ParseGrant reads it.
func FormatGrant(g record.SessionGrant) string {
	return string(g.Effect) + "=" + string(g.Scope) + ":" + strconv.FormatInt(g.Budget, 10)
}

func checkGrant(g record.SessionGrant) error {
	switch {
	case len(g.Effect) < 1 || len(g.Effect) > MaxEffect:
		return badGrant("the effect of a grant has 1 to " + strconv.Itoa(MaxEffect) + " bytes")
	case len(g.Scope) < 1 || len(g.Scope) > MaxScope:
		return badGrant("the scope of a grant has 1 to " + strconv.Itoa(MaxScope) + " bytes")
	case !plain(string(g.Effect)) || !plain(string(g.Scope)):
		return badGrant("a grant is valid UTF-8 without control characters")
	case strings.Contains(string(g.Effect), "="):
		return badGrant("the effect of a grant holds no '='")
	case strings.ContainsFunc(string(g.Effect)+string(g.Scope), separates):
		return badGrant("effect and scope of a grant hold no ',', ';' or blank; each grant is given on its own")
	case g.Budget < 0:
		return badGrant("the budget of a grant is 0 or more calls")
	}
	return nil
}

// separates reports what people put between the items of a list. A scope may hold
// ':' and '=', so a list of grants would else be read as one with a scope that
// nothing ever asks for.
func separates(r rune) bool { return r == ',' || r == ';' || unicode.IsSpace(r) }

// plain reports text that looks the same on a terminal as in the record: a human
// confirms what is shown. So control, format and line separating runes are out.
func plain(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return false
		}
	}
	return true
}

func badGrant(what string) error {
	return fault.New("session: parse grant", fault.Invalid, "%s", what)
}
