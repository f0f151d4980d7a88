package policytool

import (
	"fmt"
	"strings"
)

const (
	hunkContext = 3       // lines shown on either side of a change
	maxHunk     = 4 << 10 // bytes of a diff
	maxHunkLine = 400     // bytes of a line of it
)

// hunk tells of one replacement at a byte offset: the line on which it begins, and
// a diff of the lines that it touches with a few around them, as "diff -u" writes it,
// but for long lines, of which it shows what lies about the change.
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
	beside := len(context) + len(trailing)
	var b strings.Builder
	fmt.Fprintf(&b, "@@ -%s +%s @@\n", extent(first, beside+len(before)), extent(first, beside+len(afterwards)))
	for _, part := range []struct {
		mark  string
		lines []string
		shown int // byte of the first line about which it is shown
	}{{" ", context, 0}, {"-", before, at - begin}, {"+", afterwards, at - begin}, {" ", trailing, 0}} {
		for i, l := range part.lines {
			shown := 0
			if i == 0 {
				shown = part.shown
			}
			l, ended := strings.CutSuffix(l, "\n")
			b.WriteString(part.mark + cutAbout(l, shown, maxHunkLine) + "\n")
			if !ended {
				b.WriteString("\\ No newline at end of file\n")
			}
		}
	}
	return line, shorten(b.String(), maxHunk)
}

// extent is where a hunk's lines begin in one of its files, and how many they are.
func extent(first int64, n int) string {
	if n == 0 {
		first--
	}
	return fmt.Sprintf("%d,%d", first, n)
}

// endsLine reports whether a text consists of whole lines.
func endsLine(text string) bool { return text == "" || strings.HasSuffix(text, "\n") }

// lines splits a text after each line break.
func lines(text string) []string {
	all := strings.SplitAfter(text, "\n")
	return all[:len(all)-1+min(1, len(all[len(all)-1]))]
}

// shorten keeps the whole lines of a text that fit into a size and counts the rest.
func shorten(text string, size int) string {
	if len(text) <= size {
		return text
	}
	kept := text[:strings.LastIndexByte(text[:size], '\n')+1]
	return fmt.Sprintf("%s…[%d bytes left out]…\n", kept, len(text)-len(kept))
}
