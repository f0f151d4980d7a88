package decide

import (
	"fmt"
	"strings"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"

	"world/broker/law"
)

// loadCedar writes one permit policy a grant, as Cedar's guide recommends for
// capabilities: effect as action, scope as resource, numbers in the context. It
// answers by evaluating every policy, because all reasons belong to its answer.
func loadCedar(grants []law.Grant) (func(law.Request) Answer, error) {
	var text strings.Builder
	for _, g := range grants {
		fmt.Fprintf(&text, "permit(principal, action == Action::%q, resource == Scope::%q) "+
			"when { context.now >= 0 && context.now < %d && context.cost >= 0 && context.cost <= %d };\n",
			g.Effect, g.Scope, g.ExpiresAt, g.Budget)
	}
	policies, err := cedar.NewPolicySetFromBytes("grants.cedar", []byte(text.String()))
	if err != nil {
		return nil, err
	}
	entities := types.EntityMap{}
	return func(r law.Request) Answer {
		request := types.Request{
			Principal: types.NewEntityUID("Session", "bench"),
			Action:    types.NewEntityUID("Action", types.String(r.Effect)),
			Resource:  types.NewEntityUID("Scope", types.String(r.Scope)),
			Context: types.NewRecord(types.RecordMap{
				"now": types.Long(r.Now), "cost": types.Long(r.Cost),
			}),
		}
		return func() (bool, error) {
			decision, detail := cedar.Authorize(policies, entities, request)
			if len(detail.Errors) > 0 {
				return false, fmt.Errorf("cedar: %s", detail.Errors[0].Message)
			}
			return decision == types.Allow, nil
		}
	}, nil
}
