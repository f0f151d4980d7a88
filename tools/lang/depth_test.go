package lang

import (
	"strings"
	"testing"
)

// TestTooDeep: what the parser takes without descending, and others would descend into,
// is refused where it goes too deep, at a place of the program, and taken before that.
func TestTooDeep(t *testing.T) {
	for name, parts := range map[string][2]string{
		"sum": {"x = 1", "+1"}, "difference": {"x = 1", "-1"}, "or": {"x = 1", " or 1"}, "call": {"print", "()"}, "member": {"x = args", ".y"},
		"index": {"x = args", "[0]"}, "elif": {"if 1:\n  pass\n", "elif 1:\n  pass\n"},
	} {
		source := func(n int) []byte { return []byte(parts[0] + strings.Repeat(parts[1], n) + "\n") }
		if got := CheckStarlark("a.star", source(maxDepth-10)); len(got) != 0 {
			t.Errorf("%s: %+v", name, got[0])
		}
		for _, n := range []int{maxDepth + 10, 1 << 20 / len(parts[1])} {
			got := CheckStarlark("a.star", source(n))
			if len(got) != 1 || got[0].Code != "STAR_SYNTAX" || !strings.HasPrefix(got[0].Message, "nested too deep") || got[0].Line == 0 {
				t.Errorf("%s of %d: %+v", name, n, got)
			}
		}
	}
	// What the parser descends into it bounds by itself.
	for _, part := range []string{"(", "[", "-", "not ", "lambda: ", "1 if 1 else "} {
		if got := CheckStarlark("a.star", []byte("x = "+strings.Repeat(part, 1<<20/len(part)))); len(got) != 1 || got[0].Message != "excessive nesting" {
			t.Errorf("%q: %+v", part, got)
		}
	}
	// Much beside each other is not deep.
	if got := CheckStarlark("a.star", []byte("x = ["+strings.Repeat("1, ", 100_000)+"]\n"+strings.Repeat("x = 1\n", 100_000))); len(got) != 0 {
		t.Errorf("a table: %+v", got[0])
	}
}
