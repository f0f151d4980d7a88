package mcp

import (
	"encoding/json"

	"world/canon"
	"world/fault"
)

// headerAnnotation binds an argument to an HTTP header. Arguments come from the
// body alone here, so a schema that asks for it is not served.
const headerAnnotation = "x-mcp-header"

func badSchema(what string) error {
	return fault.New("mcp: schema", fault.Unsupported, "%s", what)
}

// inputSchema is a descriptor's schema as the protocol wants it: of type object,
// which is added where the schema names no type.
func inputSchema(raw json.RawMessage) (json.RawMessage, error) {
	v, err := canon.Parse(raw, canon.Limits{})
	if err != nil {
		return nil, err
	}
	if names(v, headerAnnotation) {
		return nil, badSchema("the schema binds arguments to headers")
	}
	kind, ok := v.Get("type")
	if !ok {
		return v.With("type", canon.NewString("object")).Bytes(), nil
	}
	if text, _ := kind.Text(); text != "object" {
		return nil, badSchema("the schema is of another type than object")
	}
	return v.Bytes(), nil
}

// outputSchema admits what a transition promises and the typed failure that may
// come in its place: clients hold every structured answer to the schema, those of
// denied calls too.
func outputSchema(raw json.RawMessage) (json.RawMessage, error) {
	v, err := canon.Parse(raw, canon.Limits{})
	if err != nil {
		return nil, err
	}
	return canon.NewObject([]canon.Member{
		{Name: "type", Value: canon.NewString("object")},
		{Name: "anyOf", Value: canon.NewArray([]canon.Value{v, failureSchema})},
	}).Bytes(), nil
}

var failureSchema = canon.NewObject([]canon.Member{
	{Name: "type", Value: canon.NewString("object")},
	{Name: "required", Value: canon.NewArray([]canon.Value{canon.NewString("error")})},
})

// names reports whether an object anywhere within v has a member of this name.
func names(v canon.Value, name string) bool {
	for _, m := range v.Members() {
		if m.Name == name || names(m.Value, name) {
			return true
		}
	}
	for _, item := range v.Items() {
		if names(item, name) {
			return true
		}
	}
	return false
}
