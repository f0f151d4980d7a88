package ssasmt

import "testing"

// cond makes a condition from letters: "abC" is a and b and not c.
func cond(t *terms, letters string) *term {
	joined := t.yes
	for _, l := range letters {
		c := t.make(string(l | 0x20))
		if l < 'a' {
			c = t.not(c)
		}
		joined = t.and(joined, c)
	}
	return joined
}

// Conditions of paths that meet again collapse to the condition of where they
// parted; written out they would double at every join.
func TestConditionsCollapse(t *testing.T) {
	for _, row := range []struct {
		name  string
		conds []string
		want  string
	}{
		{"no path", nil, "false"},
		{"one path", []string{"ab"}, "(and a b)"},
		{"a diamond", []string{"ab", "aB"}, "a"},
		{"a whole branch", []string{"a", "A"}, "true"},
		{"a diamond with a way out", []string{"abc", "aB"}, "(and a (or c (not b)))"},
		{"a chain of cases", []string{"ab", "aBc", "aBC"}, "a"},
		{"a chain given backwards", []string{"aBC", "aBc", "ab"}, "a"},
		{"a nested diamond", []string{"abc", "abC", "aBd", "aBD"}, "a"},
		{"no relation", []string{"a", "b"}, "(or a b)"},
		{"one within the other", []string{"a", "ab"}, "a"},
	} {
		terms := newTerms()
		var conds []*term
		for _, c := range row.conds {
			conds = append(conds, cond(terms, c))
		}
		if got := terms.render(terms.any(conds)); got != row.want {
			t.Errorf("%s: got %s, want %s", row.name, got, row.want)
		}
	}
}

func TestRelativeDropsWhatAllShare(t *testing.T) {
	terms := newTerms()
	got := terms.relative([]*term{cond(terms, "abc"), cond(terms, "abC"), cond(terms, "aB")})
	for i, want := range []string{"(and b c)", "(and b (not c))", "(not b)"} {
		if text := terms.render(got[i]); text != want {
			t.Errorf("condition %d: got %s, want %s", i, text, want)
		}
	}
}

// Any join must mean the same as its conditions under every assignment.
func TestConditionsKeepTheirMeaning(t *testing.T) {
	letters := []string{"", "a", "A", "ab", "aB", "abc", "abC", "Abc", "bca", "c", "bC"}
	for _, x := range letters {
		for _, y := range letters {
			for _, z := range letters {
				terms := newTerms()
				cs := []*term{cond(terms, x), cond(terms, y), cond(terms, z)}
				joined := terms.any(cs)
				for bits := range 8 {
					want := holds(cs[0], bits) || holds(cs[1], bits) || holds(cs[2], bits)
					if holds(joined, bits) != want {
						t.Fatalf("%s or %s or %s became %s", x, y, z, terms.render(joined))
					}
				}
			}
		}
	}
}

// holds evaluates a condition; bit 0 is a, bit 1 is b, bit 2 is c.
func holds(c *term, bits int) bool {
	switch c.head {
	case "true":
		return true
	case "false":
		return false
	case "not":
		return !holds(c.args[0], bits)
	case "and":
		return holds(c.args[0], bits) && holds(c.args[1], bits)
	case "or":
		return holds(c.args[0], bits) || holds(c.args[1], bits)
	}
	return bits>>(c.head[0]-'a')&1 == 1
}

func TestSharedTermsAreWrittenOnce(t *testing.T) {
	terms := newTerms()
	sum := terms.make("bvadd", terms.make("x"), terms.make("y"))
	if again := terms.make("bvadd", terms.make("x"), terms.make("y")); again != sum {
		t.Error("equal terms are two nodes")
	}
	got := terms.render(terms.make("bvmul", sum, sum))
	if want := "(let (($0 (bvadd x y)))\n  (bvmul $0 $0))"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
