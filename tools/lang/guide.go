package lang

import (
	_ "embed"
	"strings"
)

// Guide tells how programs are written and run here, in sections of Markdown.
//
//go:embed guide.md
var Guide string

// SearchGuide returns the sections that hold every word of a query, at most limit.
func SearchGuide(query string, limit int) []string {
	words := strings.Fields(strings.ToLower(query))
	var found []string
	for section := range strings.SplitSeq(Guide, "\n# ") {
		text := "# " + strings.TrimPrefix(strings.TrimSpace(section), "# ") + "\n"
		all := len(words) > 0 && len(found) < limit
		for _, word := range words {
			all = all && strings.Contains(strings.ToLower(text), word)
		}
		if all {
			found = append(found, text)
		}
	}
	return found
}
