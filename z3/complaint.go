package z3

import (
	"regexp"
	"strconv"
	"strings"

	"world/fault"
)

// forms is how z3 and cvc5 say which line of their standard input a complaint is
// about, and how far behind they count: cvc5 1.0.3 is one line behind.
var forms = []struct {
	text   *regexp.Regexp
	behind int
}{
	{regexp.MustCompile(`^line (\d+) column \d+: (?s)(.*)$`), 0},
	{regexp.MustCompile(`^Parse Error: <stdin>:(\d+)\.\d+: (?s)(.*)$`), 1},
}

// complaint turns a solver's (error "...") into one line with file and line.
func (s *Process) complaint(text string) error {
	where, what := s.where, text
	for _, f := range forms {
		m := f.text.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		if line, err := strconv.Atoi(m[1]); err == nil {
			where, what = s.locate(line+f.behind), m[2]
		}
	}
	what, _, _ = strings.Cut(what, "\n")
	return fault.New("z3: ask", fault.Invalid, "%s: %s (says %s)", where, what, s.program.Name)
}

// locate names the file and line behind a line of what was sent.
func (s *Process) locate(line int) string {
	at := placed{s.where, 1}
	for _, p := range s.sent {
		if p.line > line {
			break
		}
		at = p
	}
	return at.file + ":" + strconv.Itoa(line-at.line+1)
}
