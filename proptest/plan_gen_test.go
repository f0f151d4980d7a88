package proptest

import (
	"strconv"
	"strings"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"

	"world/broker/law"
	"world/canon"
)

// Small alphabets, so that equal and unequal names are both common.
var (
	effectNames = []any{"Workspace.Read", "Workspace.Write", "Net.Send", ""}
	scopeNames  = []any{"worktree", "elsewhere", ""}
	costs       = []any{int64(0), int64(1), int64(2), int64(-1), int64(1<<63 - 1)}
	ids         = []any{"e1", "a", "abcdefghij012345", "abcdefghij0123456", "", "E1", "e-1", "é"}
)

// genTriple draws effects as transitions declare and plan them.
func genTriple() gopter.Gen {
	return gopter.CombineGens(gen.OneConstOf(effectNames...), gen.OneConstOf(scopeNames...), gen.OneConstOf(costs...)).
		Map(func(v []any) law.Triple {
			return law.Triple{Effect: law.Effect(v[0].(string)), Scope: law.Scope(v[1].(string)), Cost: v[2].(int64)}
		})
}

// planText is a plan as a transition writes it, lawful or not.
type planText struct {
	IDs      []string
	Triples  []law.Triple
	Payloads []string
	Finish   bool
	Result   string
	Reserved bool
}

// genPlan draws plans near the border of the laws: each law is kept and broken often.
func genPlan() gopter.Gen {
	return gopter.CombineGens(
		gen.IntRange(0, 4), gen.SliceOfN(2, gen.OneConstOf(ids...)), gen.SliceOfN(2, genTriple()),
		gen.SliceOfN(2, gen.OneConstOf(`{}`, `{"b":1,"a":[true,null]}`, `[]`, `"x"`, `null`, `{}`)),
		gen.Bool(), gen.OneConstOf("null", "{}", `{"world":1}`, "[]", "null", `{"ok":false}`), gen.IntRange(0, 9),
	).Map(func(v []any) planText {
		p := planText{Finish: v[4].(bool), Result: v[5].(string), Reserved: v[6].(int) == 0}
		// Mostly one effect, sometimes none or two.
		for i := range []int{0, 1, 1, 1, 2}[v[0].(int)] {
			p.IDs = append(p.IDs, v[1].([]string)[i])
			p.Triples = append(p.Triples, v[2].([]law.Triple)[i])
			p.Payloads = append(p.Payloads, v[3].([]string)[i])
		}
		return p
	})
}

// JSON writes the plan; swapped writes members in the opposite order and with
// white space, which must mean the same.
func (p planText) JSON(swapped bool) []byte {
	object := func(members ...string) string {
		if swapped {
			for i, j := 0, len(members)-1; i < j; i, j = i+1, j-1 {
				members[i], members[j] = members[j], members[i]
			}
			return "{ " + strings.Join(members, " ,\n") + " }"
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	text := func(s string) string { return string(canon.NewString(s).Bytes()) }
	var effects []string
	for i, t := range p.Triples {
		effects = append(effects, object(
			`"id":`+text(p.IDs[i]), `"effect":`+text(string(t.Effect)), `"scope":`+text(string(t.Scope)),
			`"cost":`+strconv.FormatInt(t.Cost, 10), `"payload":`+p.Payloads[i]))
	}
	members := []string{
		`"plan":"world/effect-plan/v1"`, `"finish":` + strconv.FormatBool(p.Finish),
		`"effects":[` + strings.Join(effects, ",") + `]`, `"result":` + p.Result,
	}
	if p.Reserved {
		members = append(members, `"world":{}`)
	}
	return []byte(object(members...))
}
