package decide

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"world/broker/law"
)

// byKey asks the grants of one effect and scope only, found by key: nothing else
// is searched.
const byKey = `package world

default allow := false

allow if {
	input.now >= 0
	input.cost >= 0
	some grant in data.grants[input.effect][input.scope]
	input.now < grant.expires
	input.cost <= grant.budget
}
`

// loadOPA has grants as data, as OPA wants what changes: objects by effect and
// scope, in a store that keeps them as the evaluator's own values.
func loadOPA(grants []law.Grant) (func(law.Request) Answer, error) {
	return prepare(rego.Module("world.rego", byKey), rego.Store(inmem.NewFromASTObject(opaData(grants))))
}

// loadOPARules has one rule a grant, of comparisons that OPA's index of rules can
// use. It is the fastest to ask, and slow to load: each new grant is compiled.
func loadOPARules(grants []law.Grant) (func(law.Request) Answer, error) {
	var text strings.Builder
	text.WriteString("package world\n\ndefault allow := false\n")
	for _, g := range grants {
		fmt.Fprintf(&text, "\nallow if {\n\tinput.effect == %s\n\tinput.scope == %s\n\tinput.now >= 0\n\tinput.now < %d\n\tinput.cost >= 0\n\tinput.cost <= %d\n}\n",
			opaText(string(g.Effect)), opaText(string(g.Scope)), g.ExpiresAt, g.Budget)
	}
	return prepare(rego.Module("world.rego", text.String()))
}

// prepare compiles the query once. A request is an input that is parsed already.
func prepare(options ...func(*rego.Rego)) (func(law.Request) Answer, error) {
	ctx := context.Background()
	query, err := rego.New(append(options, rego.Query("data.world.allow"))...).PrepareForEval(ctx)
	if err != nil {
		return nil, err
	}
	return func(r law.Request) Answer {
		input := ast.NewObject(
			ast.Item(ast.StringTerm("effect"), ast.StringTerm(string(r.Effect))),
			ast.Item(ast.StringTerm("scope"), ast.StringTerm(string(r.Scope))),
			ast.Item(ast.StringTerm("cost"), opaNumber(r.Cost)),
			ast.Item(ast.StringTerm("now"), opaNumber(r.Now)),
		)
		return func() (bool, error) {
			results, err := query.Eval(ctx, rego.EvalParsedInput(input))
			return results.Allowed(), err
		}
	}, nil
}

// opaData is {"grants": {effect: {scope: [{expires, budget}...]}}}.
func opaData(grants []law.Grant) ast.Object {
	type place struct {
		effect law.Effect
		scope  law.Scope
	}
	lists := map[place][]*ast.Term{}
	for _, g := range grants {
		at := place{g.Effect, g.Scope}
		lists[at] = append(lists[at], ast.ObjectTerm(
			ast.Item(ast.StringTerm("expires"), opaNumber(g.ExpiresAt)),
			ast.Item(ast.StringTerm("budget"), opaNumber(g.Budget)),
		))
	}
	effects := map[law.Effect]ast.Object{}
	for at, list := range lists {
		if effects[at.effect] == nil {
			effects[at.effect] = ast.NewObject()
		}
		effects[at.effect].Insert(ast.StringTerm(string(at.scope)), ast.ArrayTerm(list...))
	}
	all := ast.NewObject()
	for effect, scopes := range effects {
		all.Insert(ast.StringTerm(string(effect)), ast.NewTerm(scopes))
	}
	return ast.NewObject(ast.Item(ast.StringTerm("grants"), ast.NewTerm(all)))
}

func opaNumber(n int64) *ast.Term {
	return ast.NumberTerm(json.Number(strconv.FormatInt(n, 10)))
}

// opaText writes a literal: Rego's escapes are those of JSON.
func opaText(s string) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic("decide: a text is no JSON: " + err.Error())
	}
	return text
}
