package policytool

import (
	"fmt"
	"strings"
)

const (
	hunkContext = 3       // lines shown on either side of a change
	maxHunk     = 4 << 10 // bytes of a diff
)

// hunk tells of one replacement at a byte offset: the line on which it begins, and
// a diff of the lines that it touches with a few around them, as "diff -u" writes it.
func hunk(text string, at int, old, new string) (line int64, diff string) {
	begin := strings.LastIndexByte(text[:at], '\n') + 1
	end := at + len(old)
	if (end == at || text[end-1] != '\n' || !endsLine(text[begin:at]+new)) && end < len(text) {
		end += after(text[end:], 1)
	}
	line = countLines(text[:begin]) + 1
	above := begin
	for i := 0; i < hunkContext && above > 0; i++ {
		above = strings.LastIndexByte(text[:above-1], '\n') + 1
	}
	below := end + after(text[end:], hunkContext)
	before, context := lines(text[begin:end]), lines(text[above:begin])
	afterwards := lines(text[begin:at] + new + text[at+len(old):end])
	trailing := lines(text[end:below])

	first := line - int64(len(context))
	around := int64(len(context) + len(trailing))
	var b strings.Builder
	fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", first, around+int64(len(before)), first, around+int64(len(afterwards)))
	for _, part := range []struct {
		mark  string
		lines []string
	}{{" ", context}, {"-", before}, {"+", afterwards}, {" ", trailing}} {
		for _, l := range part.lines {
			b.WriteString(part.mark + strings.TrimSuffix(l, "\n") + "\n")
		}
	}
	return line, shorten(b.String(), maxHunk)
}

// endsLine reports whether a text consists of whole lines.
func endsLine(text string) bool { return text == "" || strings.HasSuffix(text, "\n") }

// lines splits a text after each line break.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
}

// shorten keeps the whole lines of a text that fit into a size and counts the rest.
func shorten(text string, size int) string {
	if len(text) <= size {
		return text
	}
	kept := text[:strings.LastIndexByte(text[:size], '\n')+1]
	return fmt.Sprintf("%s…[%d bytes left out]…\n", kept, len(text)-len(kept))
}
