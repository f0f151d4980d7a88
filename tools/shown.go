package tools

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// withoutPath takes the worktree's place on the host out of a text: itself it is
// shown as ".", and what lies in it by its name from there. A path that only has
// the worktree's in it, such as that of a neighbour whose name goes on, is left alone.
func withoutPath(text, worktree string) string {
	var out strings.Builder
	for {
		i := strings.Index(text, worktree)
		if i < 0 || worktree == "" {
			return out.String() + text
		}
		before, after := text[:i], text[i+len(worktree):]
		out.WriteString(before)
		last, _ := utf8.DecodeLastRuneInString(before)
		below, slash := strings.CutPrefix(after, "/")
		switch first, _ := utf8.DecodeRuneInString(below); {
		case before != "" && (last == '/' || last == '.' || named(last)), !slash && goesOn(after):
			out.WriteString(worktree)
		case slash && below != "" && (first == '.' || named(first)):
			after = below
		default:
			out.WriteString(".")
		}
		text = after
	}
}

// goesOn reports whether a text goes on with a name: a dot at the end of a sentence
// does not, and one before an extension does.
func goesOn(text string) bool {
	r, size := utf8.DecodeRuneInString(strings.TrimLeft(text, "."))
	return size > 0 && named(r)
}

// named reports whether a character is surely one of a name and no mark around it.
// A byte that is no text is taken for one.
func named(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune("_-~+%@", r) || r == utf8.RuneError
}
