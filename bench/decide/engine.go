// Package decide measures the decision law beside other engines answering the
// same question, and first holds that they give the same answers.
//
// The question is the allow and deny half of law.Decide: does one of n grants
// cover this effect on this scope at this cost and time? Which grant, which label
// and what is left afterwards is more than the other engines say.
//
// Each engine is loaded once with grants, and asked often, as its own guide wants
// it. Loading, and bringing a request into the engine's own form, are outside what
// is measured. None of the others counts: what is left of a budget is loaded with
// the grant, and a real session would load again after each call. World's law is
// asked with the grants as they are, so it has nothing to load.
package decide

import "world/broker/law"

// Answer decides one prepared request. It may be called again. An error is an
// engine's failure, never a denial.
type Answer func() (allowed bool, err error)

// Engine is one way to decide. Load returns what prepares requests over grants;
// names in them are valid UTF-8.
type Engine struct {
	Name string
	Load func([]law.Grant) (func(law.Request) Answer, error)
}

// Engines are all engines, World's law first.
var Engines = []Engine{
	{"world", loadWorld},
	{"cedar", loadCedar},
	{"opa", loadOPA},
	{"opa-rules", loadOPARules},
	{"casbin", loadCasbin},
	{"macaroon", loadMacaroons},
}

func loadWorld(grants []law.Grant) (func(law.Request) Answer, error) {
	return func(r law.Request) Answer {
		return func() (bool, error) { return law.Decide(grants, r).Verdict == law.Allowed, nil }
	}, nil
}
