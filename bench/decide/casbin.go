package decide

import (
	"fmt"
	"strconv"

	"github.com/casbin/casbin/v3"
	"github.com/casbin/casbin/v3/model"

	"world/broker/law"
)

// casbinModel is an access list with two conditions. The comparisons of names
// come first, so that numbers are read of matching rules only.
const casbinModel = `
[request_definition]
r = effect, scope, now, cost

[policy_definition]
p = effect, scope, expires, budget

[policy_effect]
e = some(where (p.eft == allow))

[matchers]
m = r.effect == p.effect && r.scope == p.scope && live(r.now, p.expires) && within(r.cost, p.budget)
`

// number keeps a request's integer whole: the matcher's language makes a float64
// of a plain int64, and then a second near the largest is the same as the next.
type number int64

// loadCasbin makes one rule a grant, for the plain enforcer: it tries rules one by
// one until one allows. The cached enforcer would remember answers, and no two
// requests of a session have the same time and budget. A rule is text, so its
// numbers are read by functions of ours each time. Rules that are equal as text
// with commas between the fields count once.
func loadCasbin(grants []law.Grant) (func(law.Request) Answer, error) {
	m, err := model.NewModelFromString(casbinModel)
	if err != nil {
		return nil, err
	}
	enforcer, err := casbin.NewEnforcer(m)
	if err != nil {
		return nil, err
	}
	enforcer.AddFunction("live", compare(func(now, expires int64) bool { return now >= 0 && now < expires }))
	enforcer.AddFunction("within", compare(func(cost, budget int64) bool { return cost >= 0 && cost <= budget }))
	rules := make([][]string, len(grants))
	for i, g := range grants {
		rules[i] = []string{string(g.Effect), string(g.Scope), strconv.FormatInt(g.ExpiresAt, 10), strconv.FormatInt(g.Budget, 10)}
	}
	if _, err := enforcer.AddPoliciesEx(rules); err != nil {
		return nil, err
	}
	return func(r law.Request) Answer {
		request := []any{string(r.Effect), string(r.Scope), number(r.Now), number(r.Cost)}
		return func() (bool, error) { return enforcer.Enforce(request...) }
	}, nil
}

// compare makes a matcher's function of a comparison of the request's number with
// the rule's.
func compare(holds func(asked, granted int64) bool) func(...any) (any, error) {
	return func(args ...any) (any, error) {
		asked, isNumber := args[0].(number)
		text, isText := args[1].(string)
		if !isNumber || !isText {
			return nil, fmt.Errorf("casbin: compares %T with %T", args[0], args[1])
		}
		granted, err := strconv.ParseInt(text, 10, 64)
		return holds(int64(asked), granted), err
	}
}
