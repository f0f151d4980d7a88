package policytool

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"unicode/utf8"
)

// MaxScanned is the largest file of which lines are read, in bytes: they are counted
// from its beginning to its end.
const MaxScanned = 256 << 20

// window is the part of a file that a read asks for: what follows after offset lines,
// or bytes, and at most limit of them.
type window struct {
	offset, limit int64
	bytes         bool
}

// window reads a request's flags; part is false when it asks for the whole file.
func (q Request) window() (w window, part bool, err error) {
	var errs [3]error
	w.bytes, errs[0] = q.set("bytes")
	const most = math.MaxInt64 / 4
	w.offset, errs[1] = q.number("offset", 0, most, 0)
	w.limit, errs[2] = q.number("limit", 1, most, most)
	return w, len(q.Flags) > 0, cmp.Or(errs[0], errs[1], errs[2])
}

// readPart answers a part of a text file, whatever the size of the whole.
func (p place) readPart(w window) (Response, error) {
	f, err := p.open()
	if err != nil {
		return Response{}, err
	}
	defer f.Close()
	if w.bytes {
		return bytesOf(f, p.info.Size(), w)
	}
	if p.info.Size() > MaxScanned {
		return Response{}, fmt.Errorf("lines are read of files of at most %d bytes; read part of this one with bytes, offset and limit", MaxScanned)
	}
	return linesOf(f, w)
}

// linesOf reads a text to its end, counts its lines and keeps those asked for.
func linesOf(f io.Reader, w window) (Response, error) {
	var kept strings.Builder
	var text checked
	var number, total int64 // line breaks so far, and lines
	r := Response{OK: true}
	for reader := bufio.NewReaderSize(io.LimitReader(f, MaxScanned), 64<<10); ; {
		piece, err := reader.ReadSlice('\n')
		if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
			return r, err
		}
		if !text.add(piece) {
			return r, errNotText
		}
		if len(piece) > 0 {
			total = number + 1
		}
		if number < w.offset || number-w.offset >= w.limit {
			r.Cut = r.Cut || len(piece) > 0
		} else if kept.Write(piece); kept.Len() > MaxContent {
			return r, errTooMuch("part")
		}
		if err == nil {
			number++
		} else if err == io.EOF {
			break
		}
	}
	if !text.whole() {
		return r, errNotText
	}
	r.Content, r.Lines = kept.String(), total
	switch {
	case w.offset > 0 && w.offset >= total:
		r.Why = cutPastEnd
	case r.Cut:
		r.Why = cutLimit
	}
	if total-w.offset > w.limit {
		r.Next = w.offset + w.limit
	}
	return r, nil
}

// bytesOf reads bytes of a text of a size, in whole characters: it begins with the
// one that stands at the offset, and holds at least one.
func bytesOf(f *os.File, size int64, w window) (Response, error) {
	r := Response{OK: true, Bytes: size}
	if w.offset >= size {
		if r.Cut = size > 0; w.offset > 0 {
			r.Why = cutPastEnd
		}
		return r, nil
	}
	length := min(w.limit, size-w.offset)
	if length > MaxContent {
		return r, errTooMuch("part")
	}
	before := min(w.offset, utf8.UTFMax-1)
	b, err := io.ReadAll(io.NewSectionReader(f, w.offset-before, before+length+utf8.UTFMax))
	if err != nil {
		return r, err
	}
	begin, end := int(before), min(int(before+length), len(b))
	for begin > 0 && !utf8.RuneStart(b[begin]) {
		begin--
	}
	for end > begin && end < len(b) && !utf8.RuneStart(b[end]) {
		end--
	}
	if end == begin { // less than the one character was asked for
		_, one := utf8.DecodeRune(b[begin:])
		end += one
	}
	if !utf8.Valid(b[begin:end]) {
		return r, errNotText
	}
	r.Content = string(b[begin:end])
	next := w.offset - before + int64(end)
	if r.Cut = len(r.Content) < int(size); r.Cut {
		r.Why = cutLimit
	}
	if next < size {
		r.Next = next
	}
	return r, nil
}

// checked holds pieces of a text to UTF-8, wherever they are cut.
type checked struct{ open []byte }

func (c *checked) add(piece []byte) bool {
	for len(c.open) > 0 && len(piece) > 0 {
		c.open, piece = append(c.open, piece[0]), piece[1:]
		if utf8.FullRune(c.open) {
			if !utf8.Valid(c.open) {
				return false
			}
			c.open = nil
		}
	}
	for i := max(0, len(piece)-utf8.UTFMax+1); i < len(piece); i++ {
		if !utf8.FullRune(piece[i:]) {
			c.open, piece = append(c.open, piece[i:]...), piece[:i]
		}
	}
	return utf8.Valid(piece)
}

// whole reports whether the last character is.
func (c *checked) whole() bool { return len(c.open) == 0 }

// errTooMuch says of a file or of a part that it is more than an answer holds.
func errTooMuch(what string) error {
	return fmt.Errorf("the %s is more than %d bytes as JSON text; read part of it with offset and limit, of a long line with bytes besides", what, MaxContent)
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
