// Package decide measures the decision law beside other engines answering the
// same question, and first holds that they give the same answers.
package decide

import (
	"fmt"

	"github.com/cedar-policy/cedar-go"
	"github.com/cedar-policy/cedar-go/types"

	"world/broker/law"
)

// Cedar answers with one permit policy a grant, as its guide recommends for
// capabilities: effect as action, scope as resource, numbers in the context.
type Cedar struct {
	policies *cedar.PolicySet
	entities types.EntityMap
}

// NewCedar compiles grants into policies once.
func NewCedar(grants []law.Grant) (Cedar, error) {
	text := ""
	for _, g := range grants {
		text += fmt.Sprintf("permit(principal, action == Action::%q, resource == Scope::%q) "+
			"when { context.now >= 0 && context.now < %d && context.cost >= 0 && context.cost <= %d };\n",
			g.Effect, g.Scope, g.ExpiresAt, g.Budget)
	}
	set, err := cedar.NewPolicySetFromBytes("grants.cedar", []byte(text))
	return Cedar{policies: set, entities: types.EntityMap{}}, err
}

// Ask builds the request that Cedar is asked, outside what is measured.
func Ask(r law.Request) types.Request {
	return types.Request{
		Principal: types.NewEntityUID("Session", "bench"),
		Action:    types.NewEntityUID("Action", types.String(r.Effect)),
		Resource:  types.NewEntityUID("Scope", types.String(r.Scope)),
		Context: types.NewRecord(types.RecordMap{
			"now": types.Long(r.Now), "cost": types.Long(r.Cost),
		}),
	}
}

// Allows reports Cedar's decision.
func (c Cedar) Allows(r types.Request) bool {
	decision, _ := cedar.Authorize(c.policies, c.entities, r)
	return decision == types.Allow
}
