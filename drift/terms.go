package drift

import (
	"world/broker/law"
	"world/spec/smtlib"
)

// Num writes an int64 as the model reads it in 64 bits.
func Num(n int64) string { return num(n) }

// ReadGrant reads a grant as a solver writes it.
func ReadGrant(n smtlib.Node) (law.Grant, bool) { return readGrant(n) }

// ReadRequest reads a request as a solver writes it.
func ReadRequest(n smtlib.Node) (law.Request, bool) {
	if n.Head() != "request" || len(n.List) != 5 {
		return law.Request{}, false
	}
	cost, ok1 := readNum(n.List[3])
	now, ok2 := readNum(n.List[4])
	return law.Request{Effect: law.Effect(n.List[1].Text()), Scope: law.Scope(n.List[2].Text()), Cost: cost, Now: now}, ok1 && ok2
}

// FoldTerm writes the decision of a request, given by its name, over grants.
func FoldTerm(grants []law.Grant, request string) string {
	fold := "nobody"
	for i, g := range grants {
		fold = "(consider " + fold + " " + num(int64(i)) + " " + grantTerm(g) + " " + request + ")"
	}
	return fold
}

// GrantTerm writes a grant as the model reads it.
func GrantTerm(g law.Grant) string { return grantTerm(g) }

// RequestTerm writes a request as the model reads it.
func RequestTerm(r law.Request) string { return requestTerm(r) }
