package mutate

import (
	_ "embed"
	"strings"

	"github.com/BurntSushi/toml"

	"world/drift/ssasmt"
	"world/fault"
)

//go:embed equivalent.toml
var equivalents string

// Claim is a reviewed claim: no test can kill the mutants that it describes,
// because they do the same as what they were made from.
type Claim struct {
	File string   `toml:"file"` // relative to the module root
	Func string   `toml:"func"`
	Line string   `toml:"line"` // of the text, without the space around it
	What []string `toml:"what"` // each as in Mutant
	Nth  int      `toml:"nth"`  // of the same changes on such lines of the function, from 1; 0 for all
	Why  string   `toml:"why"`
}

// Claims is the list of the tree, drift/mutate/equivalent.toml.
func Claims() ([]Claim, error) { return ReadClaims(equivalents) }

// ReadClaims reads claims. Refused: unknown members, and a claim without a reason.
func ReadClaims(text string) ([]Claim, error) {
	const op = "mutate: equivalents"
	var list struct {
		Equivalent []Claim `toml:"equivalent"`
	}
	meta, err := toml.Decode(text, &list)
	if err != nil {
		return nil, fault.Wrap(op, fault.Invalid, err, "the list is not TOML of its form")
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, fault.New(op, fault.Invalid, "unknown member %s", unknown[0])
	}
	for _, e := range list.Equivalent {
		if strings.TrimSpace(e.Why) == "" {
			return nil, fault.New(op, fault.Invalid, "%s: %s: %q: no reason is given", e.File, e.Func, e.What)
		}
	}
	return list.Equivalent, nil
}

// claims gives each mutant the reason that the list has for it, "" for none. A
// claim about the files that describes no mutant has outlived its line: refused.
func claims(list []Claim, source *ssasmt.Source, mutants []Mutant) ([]string, error) {
	why := make([]string, len(mutants))
	for _, c := range list {
		if _, ours := source.Files[c.File]; !ours {
			continue
		}
		lines := strings.Split(string(source.Files[c.File]), "\n")
		for _, what := range c.What {
			met, used := 0, false
			for i, m := range mutants {
				if m.File != c.File || m.Name != c.Func || m.What != what || strings.TrimSpace(lines[m.Line-1]) != c.Line {
					continue
				}
				if met++; c.Nth == 0 || c.Nth == met {
					why[i], used = c.Why, true
				}
			}
			if !used {
				return nil, fault.New("mutate: equivalents", fault.NotFound, "%s: %s: %s: the list names no mutant that exists", c.File, c.Func, what)
			}
		}
	}
	return why, nil
}
