package policytool

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// maxGlob is the longest pattern, in bytes.
const maxGlob = 1024

// glob is a pattern of paths. "*", "?", "[a-z]" and "[^a-z]", or "[!a-z]", match within
// one name, "**" matches any number of names. A pattern without a slash matches names at any depth.
type glob []string

func parseGlob(pattern string) (glob, error) {
	if len(pattern) > maxGlob {
		return nil, fmt.Errorf("the glob is %d bytes; the limit is %d", len(pattern), maxGlob)
	}
	parts := strings.Split(strings.TrimPrefix(pattern, "./"), "/")
	for i, part := range parts {
		if alternatives(part) {
			return nil, fmt.Errorf("%q is a glob with alternatives, which are not read here: ask once for each, or write a \"{\" that is meant as \"[{]\"", clip(pattern))
		}
		part = negated(part)
		parts[i] = part
		if _, err := path.Match(part, ""); err != nil || part == "" || part == ".." {
			return nil, fmt.Errorf("%q is not a glob: it is made of names, *, ?, [a-z], [^a-z] and **, with single slashes between", clip(pattern))
		}
	}
	if len(parts) == 1 {
		parts = []string{"**", parts[0]}
	}
	// Several "**" in a row mean what one means.
	return slices.CompactFunc(parts, func(a, b string) bool { return a == "**" && b == "**" }), nil
}

// unquoted calls each for every byte of a pattern for one name that is neither quoted
// by a backslash nor in a class, and for the "[" of each class.
func unquoted(part string, each func(i int)) {
	class := false
	for i := 0; i < len(part); i++ {
		if !class {
			each(i)
		}
		switch {
		case part[i] == '\\':
			i++
		case !class && part[i] == '[':
			class = true
		case part[i] == ']':
			class = false
		}
	}
}

// negated writes "[!a]" as "[^a]", which is how Go reads it.
func negated(part string) string {
	b := []byte(part)
	unquoted(part, func(i int) {
		if part[i] == '[' && i+1 < len(part) && part[i+1] == '!' {
			b[i+1] = '^'
		}
	})
	return string(b)
}

// alternatives reports whether a pattern has some, as "{a,b}".
func alternatives(part string) bool {
	braces := "" // what of them there is
	unquoted(part, func(i int) {
		if strings.IndexByte("{,}", part[i]) == len(braces) {
			braces += part[i : i+1]
		}
	})
	return braces == "{,}"
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
