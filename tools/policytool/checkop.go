package policytool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"world/tools/lang"
	"world/tools/policy"
)

// Bounds of a check.
const (
	maxProgram = 1 << 20 // bytes of source
	checkTime  = 6 * time.Second
)

// report is what "check --json" prints, and the part "check" of what "ai-check" prints.
type report struct {
	File       string         `json:"file,omitempty"`
	Passed     bool           `json:"passed"`
	ErrorCount int            `json:"error_count"`
	Errors     []lang.Problem `json:"errors"`
}

func check(t *tree, q Request, _ string) Response {
	asJSON, err := q.set("json")
	if err != nil {
		return refused("check %s: %s", q.Path, err)
	}
	quiet, err := q.set("quiet")
	if err != nil {
		return refused("check %s: %s", q.Path, err)
	}
	problems, err := t.problems(q.Path, checkTime)
	if err != nil {
		return refused("check %s: %s", q.Path, reason(err))
	}
	text := ""
	if len(problems) == 0 && !quiet {
		text = fmt.Sprintf("%s: no errors\n", q.Path)
	}
	for _, p := range problems {
		text += fmt.Sprintf("%s:%d:%d: %s: %s\n", p.File, p.Line, p.Column, p.Code, p.Message)
	}
	if asJSON {
		text = document(reportOf(q.Path, problems))
	}
	return ran(len(problems) == 0, text, "check", q.Path)
}

// aiCheck answers as AILANG's ai-check does. Neither language has a verifier.
func aiCheck(t *tree, q Request, _ string) Response {
	limit := checkTime
	if text, ok := q.Flags["timeout"]; ok {
		asked, err := time.ParseDuration(text)
		if err != nil || asked <= 0 {
			return refused("ai_check %s: flag --timeout must be a time such as 5s", q.Path)
		}
		limit = min(limit, asked)
	}
	problems, err := t.problems(q.Path, limit)
	if err != nil {
		return refused("ai_check %s: %s", q.Path, reason(err))
	}
	r := reportOf("", problems)
	return ran(r.Passed, document(struct {
		File   string         `json:"file"`
		Check  report         `json:"check"`
		Verify map[string]any `json:"verify"`
	}{q.Path, r, map[string]any{"available": false}}), "ai-check", q.Path)
}

func reportOf(file string, problems []lang.Problem) report {
	return report{file, len(problems) == 0, len(problems), append([]lang.Problem{}, problems...)}
}

// problems checks one program file within a time.
func (t *tree) problems(path string, limit time.Duration) ([]lang.Problem, error) {
	language := lang.Of(path)
	switch language {
	case "":
		return nil, errors.New(lang.NotAProgram)
	case lang.Ailang:
		return nil, errors.New(lang.NeedsAilang)
	}
	p, err := t.locateUnless(path, policy.Closed)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	source, err := p.read(maxProgram)
	if err != nil {
		return nil, err
	}
	if language == lang.Starlark {
		return lang.CheckStarlark(path, []byte(source)), nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return lang.CheckPython(ctx, path, []byte(source))
}

// ran is the answer of an operation that works as a command.
func ran(passed bool, stdout string, argv ...string) Response {
	r := Response{OK: passed, Argv: argv, Stdout: stdout}
	if !passed {
		r.ExitCode = 1
	}
	return r
}

func document(v any) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic("policytool: a report does not marshal: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}
