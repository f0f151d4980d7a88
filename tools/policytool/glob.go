package policytool

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// maxGlob is the longest pattern, in bytes.
const maxGlob = 1024

// glob is a pattern of paths. "*", "?" and "[a-z]" match within one name, "**"
// matches any number of names. A pattern without a slash matches names at any depth.
type glob []string

func parseGlob(pattern string) (glob, error) {
	if len(pattern) > maxGlob {
		return nil, fmt.Errorf("the glob is %d bytes; the limit is %d", len(pattern), maxGlob)
	}
	parts := strings.Split(strings.TrimPrefix(pattern, "./"), "/")
	for _, part := range parts {
		if _, err := path.Match(part, ""); err != nil || part == "" || part == ".." {
			return nil, fmt.Errorf("%q is not a glob: it is made of names, *, ?, [a-z] and **, with single slashes between", clip(pattern))
		}
	}
	if len(parts) == 1 {
		parts = []string{"**", parts[0]}
	}
	// Several "**" in a row mean what one means.
	return slices.CompactFunc(parts, func(a, b string) bool { return a == "**" && b == "**" }), nil
}

// match reports whether a path matches. It takes time in the product of both lengths.
func (g glob) match(relative string) bool {
	// reached[i]: the names so far match the first i parts of the pattern.
	reached := make([]bool, len(g)+1)
	reached[0] = true
	g.skip(reached)
	for _, name := range strings.Split(relative, "/") {
		next := make([]bool, len(g)+1)
		for i, part := range g {
			if !reached[i] {
				continue
			}
			if part == "**" {
				next[i] = true
			} else if ok, _ := path.Match(part, name); ok {
				next[i+1] = true
			}
		}
		g.skip(next)
		reached = next
	}
	return reached[len(g)]
}

// skip lets each "**" that was reached stand for no name at all.
func (g glob) skip(reached []bool) {
	for i, part := range g {
		if part == "**" && reached[i] {
			reached[i+1] = true
		}
	}
}
