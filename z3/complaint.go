package z3

import (
	"regexp"
	"strconv"
	"strings"

	"world/fault"
)

// Where z3 and cvc5 say that a complaint is about. Lines count what they read.
var (
	z3Line   = regexp.MustCompile(`^line (\d+) column \d+: (?s)(.*)$`)
	cvc5Line = regexp.MustCompile(`^Parse Error: <stdin>:(\d+)\.\d+: (?s)(.*)$`)
)

// complaint turns a solver's (error "...") into one line with file and line.
func (s *Process) complaint(text string) error {
	where, what := s.where, text
	for _, form := range []*regexp.Regexp{z3Line, cvc5Line} {
		if m := form.FindStringSubmatch(text); m != nil {
			line, err := strconv.Atoi(m[1])
			if err != nil {
				continue
			}
			where, what = s.locate(line), m[2]
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
