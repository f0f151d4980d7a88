package policytool

import (
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"syscall"
	"unicode/utf8"

	"world/tools/policy"
)

// Bounds of a search.
const (
	standardMatches = 100
	MaxMatches      = 1000
	maxPattern      = 1024      // bytes
	maxLine         = 400       // bytes of a line that is answered
	maxSearched     = 256 << 20 // bytes of all files
)

// search answers the lines that match a regular expression (Go's, which takes time
// linear in the text), in the files below a path or in the one file that it names.
func search(t *tree, q Request, _ string) Response {
	s, err := newSeeker(t, q)
	if err != nil {
		return refused("search: %s", err)
	}
	if text := policy.Closed(q.Path); text != "" {
		return refused("search %s: %s", q.Path, text)
	}
	w, err := t.follow(q.Path)
	if err != nil {
		return refused("search %s: %s", q.Path, reason(err))
	}
	defer w.close()
	if text := policy.Closed(w.path()); text != "" {
		return refused("search %s: %s", q.Path, text)
	}
	if !w.ended {
		s.base = w.path()
		err = newVisitor(true, s.file).walk(w.here(), s.base, len(w.names))
	} else if w.last == nil {
		err = syscall.ENOENT
	} else {
		s.glob = nil // it names the file itself
		err = s.file(w.here(), w.names[len(w.names)-1], w.path(), w.last)
	}
	return stopped(s.answer, err, "search", q.Path)
}

// seeker looks for one expression.
type seeker struct {
	tree   *tree
	want   *regexp.Regexp
	glob   glob // nil: every file
	base   string
	limit  int
	left   int64 // bytes that may still be read
	answer Response

	written int // bytes of its matches
}

func newSeeker(t *tree, q Request) (*seeker, error) {
	limit, err := q.number("limit", 1, MaxMatches, standardMatches)
	if err != nil {
		return nil, err
	}
	literal, err := q.set("literal")
	if err != nil {
		return nil, err
	}
	ignore, err := q.set("ignore-case")
	if err != nil {
		return nil, err
	}
	s := &seeker{tree: t, limit: int(limit), left: maxSearched, answer: Response{OK: true}}
	if pattern, ok := q.Flags["glob"]; ok {
		if s.glob, err = parseGlob(pattern); err != nil {
			return nil, err
		}
	}
	s.want, err = expression(q.Query, literal, ignore)
	return s, err
}

func expression(query string, literal, ignore bool) (*regexp.Regexp, error) {
	if query == "" || len(query) > maxPattern {
		return nil, errQuery
	}
	if literal {
		query = regexp.QuoteMeta(query)
	}
	if ignore {
		query = "(?i)" + query
	}
	return regexp.Compile(query)
}

// file searches one file, if it is a regular one of UTF-8 text within the transfer cap.
func (s *seeker) file(dir *os.Root, name, path string, info fs.FileInfo) error {
	if info.IsDir() || info.Mode()&fs.ModeSymlink != 0 {
		return nil
	}
	if s.glob != nil && !s.glob.match(strings.TrimPrefix(strings.TrimPrefix(path, s.base), "/")) {
		return nil
	}
	if s.left -= min(info.Size(), s.tree.policy.MaxTransfer); s.left < 0 {
		return errStop(cutSize)
	}
	text, err := place{dir: dir, name: name, path: path, info: info}.read(s.tree.policy.MaxTransfer)
	if err != nil {
		s.answer.Skipped++
		return nil
	}
	s.answer.Files++
	for number := int64(1); text != ""; number++ {
		line, rest, _ := strings.Cut(text, "\n")
		text, line = rest, strings.TrimSuffix(line, "\r") // what is matched is what is shown
		found := s.want.FindStringIndex(line)
		if found == nil {
			continue
		}
		if len(s.answer.Matches) == s.limit {
			return errStop(cutLimit)
		}
		match := Match{path, number, cutAbout(line, found[0], maxLine)}
		if s.written += written(match.Path) + written(match.Text); s.written > maxTexts {
			return errStop(cutSize)
		}
		s.answer.Matches = append(s.answer.Matches, match)
	}
	return nil
}

// cutAbout keeps what of a line of more than size bytes lies about one of them.
func cutAbout(line string, at, size int) string {
	if len(line) <= size {
		return line
	}
	begin := max(0, min(at-size/4, len(line)-size))
	end := begin + size
	for begin > 0 && !utf8.RuneStart(line[begin]) {
		begin--
	}
	for end < len(line) && !utf8.RuneStart(line[end]) {
		end++
	}
	text := line[begin:end]
	if begin > 0 {
		text = "…" + text
	}
	if end < len(line) {
		text += "…"
	}
	return text
}

var errQuery = errors.New("query is a regular expression of 1 to 1024 bytes")
