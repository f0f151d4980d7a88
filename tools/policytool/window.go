package policytool

import (
	"math"
	"strings"
)

// windowed answers the lines of a text that a read asks for: limit lines after the
// first offset ones. Without either it answers the text and says nothing more.
func windowed(text string, q Request) (Response, error) {
	offset, err := q.number("offset", 0, math.MaxInt32, 0)
	if err != nil {
		return Response{}, err
	}
	limit, err := q.number("limit", 1, math.MaxInt32, math.MaxInt32)
	if err != nil {
		return Response{}, err
	}
	if len(q.Flags) == 0 {
		return Response{OK: true, Content: text}, nil
	}
	begin := after(text, offset)
	end := begin + after(text[begin:], limit)
	r := Response{
		OK: true, Content: text[begin:end], Lines: countLines(text),
		Cut: begin > 0 || end < len(text),
	}
	switch {
	case offset > 0 && begin == len(text):
		r.Why = cutPastEnd
	case r.Cut:
		r.Why = cutLimit
	}
	if end < len(text) {
		r.Next = offset + limit
	}
	return r, nil
}

// cutPastEnd says that a read began after the last line of the file, of which it also
// tells how many there are.
const cutPastEnd = "past_end"

// after is where the text goes on after n lines.
func after(text string, n int64) int {
	at := 0
	for ; n > 0 && at < len(text); n-- {
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 {
			return len(text)
		}
		at += end + 1
	}
	return at
}

// countLines counts lines, the last of which may have no line break.
func countLines(text string) int64 {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return int64(n)
}
