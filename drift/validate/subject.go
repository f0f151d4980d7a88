// Package validate proves Go functions equal to the model in spec/z3, for all
// inputs.
//
// A subject is a set of Go files, the models they transcribe, and a bridge: an
// SMT-LIB file that says how Go's values stand for the model's and what each
// function must answer. Every function of the files is translated by package
// ssasmt and must have its answer in the bridge; every other function of the
// package must be on the subject's list of those that only read; and no variable
// may hold one. So none can be forgotten.
//
// It promises that a function is called proved only if every solver answered
// unsat to each of its obligations, and sat to the hypotheses of each. What
// induction over lists rests on is written at the obligations of a loop. A function
// that calls one with a loop is proved for whatever that one answers, and so rests
// on its proof. It does not promise that the bridge says what is meant: that is for
// its reader.
package validate

import (
	_ "embed"
	"strings"

	"world/drift/ssasmt"
	"world/fault"
	"world/spec"
	"world/spec/smtlib"
)

// Subject is one package, or some files of it, and what it is held to.
type Subject struct {
	Package string   // import path
	Files   []string // relative to the module root; none for the whole package
	Reading []string // every function of the package outside Files: they judge nothing
	Models  []string // names below spec/z3, in the order they are read
	Bridge  spec.Chunk
}

//go:embed law.smt2
var lawBridge string

//go:embed plan.smt2
var planBridge string

// Law is the decision law: package broker/law, whole.
var Law = Subject{
	Package: "world/broker/law",
	Models:  []string{"decision", "seeding"},
	Bridge:  spec.Chunk{File: "drift/validate/law.smt2", Text: lawBridge},
}

// Plan is the plan laws over facts. The rest of package plan reads facts out of
// JSON and composes texts, which is for tests and fuzzing. It is listed by name, so
// that a new function must be declared one or the other.
var Plan = Subject{
	Package: "world/coordinator/plan",
	Files:   []string{"coordinator/plan/laws.go"},
	Reading: []string{
		"Parse", "parseEffects", "parseEffect", "effectText", "closed", // JSON into facts and a plan
		"PlanInput", "FinishInput", "FinishBody", "PureBody", "transitionBody", "Body", "Ended.output", // JSON out of a plan
		"World", "Conclude", "public", "refOrNull", "FinishFailure", "PhaseFailure", // likewise
		"KindOf", "Explain", "explainDenial", // words for a verdict that is given
		"shape", "broken", "get", "has", "contains", "quote", "clip", "Clip",
	},
	Models: []string{"decision", "plan"},
	Bridge: spec.Chunk{File: "drift/validate/plan.smt2", Text: planBridge},
}

// Subjects lists everything that is proved.
var Subjects = []Subject{Law, Plan}

// bridge is a parsed bridge: the definitions by name, with parameters and sort.
type bridge map[string]definition

type definition struct {
	line   int
	params []string // sorts
	sort   string
}

func readBridge(c spec.Chunk) (bridge, error) {
	nodes, err := smtlib.Parse(c.File, []byte(c.Text))
	if err != nil {
		return nil, err
	}
	b := bridge{}
	for _, n := range nodes {
		if n.Head() != "define-fun" || len(n.List) != 5 {
			return nil, fault.New("validate: bridge", fault.Invalid, "%s:%d: a bridge holds define-fun and nothing else", c.File, n.Line)
		}
		d := definition{line: n.Line, sort: n.List[3].String()}
		for _, p := range n.List[2].List {
			if len(p.List) != 2 {
				return nil, fault.New("validate: bridge", fault.Invalid, "%s:%d: a parameter is a name and a sort", c.File, n.Line)
			}
			d.params = append(d.params, p.List[1].String())
		}
		b[n.List[1].Atom] = d
	}
	return b, nil
}

// The roles that a bridge gives to definitions, as the prefix of their names.
const (
	want   = "want."   // what the function must answer
	panics = "panics." // when it must panic; never, if absent
	start  = "start."  // of a loop: the model's state before the first turn
	step   = "step."   // of a loop: the model's state after a turn
	final  = "final."  // of a loop: no turn changes this state any more; never, if absent
	same   = "same."   // of a loop: when Go's state stands for the model's; by its answer, if absent
)

// check holds that every function has its answer, and every answer its function.
func (b bridge) check(c spec.Chunk, u *ssasmt.Unit) error {
	const op = "validate: bridge"
	for _, f := range u.Funcs {
		if _, induction := b[start+f.Name]; induction && f.Loop == nil {
			return fault.New(op, fault.Invalid, "%s:%d: function %s is not proved: it has no loop, but %s has %s%s", f.File, f.Line, f.Name, c.File, start, f.Name)
		}
		needs := []string{want}
		if f.Loop != nil {
			needs = []string{start, step, want}
		}
		for _, role := range needs {
			if _, ok := b[role+f.Name]; !ok {
				return fault.New(op, fault.Invalid, "%s:%d: function %s is not proved: %s has no %s%s", f.File, f.Line, f.Name, c.File, role, f.Name)
			}
		}
	}
	for name, d := range b {
		for _, role := range []string{want, panics, start, step, final, same} {
			of, ok := strings.CutPrefix(name, role)
			if ok && u.Function(of) == nil {
				return fault.New(op, fault.Invalid, "%s:%d: %s is about no function of the package", c.File, d.line, name)
			}
		}
	}
	return nil
}
