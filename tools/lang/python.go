package lang

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
)

// PythonPath is where Debian's python3 lies.
const PythonPath = "/usr/bin/python3"

// ask.py answers questions about the language in JSON, without running any program.
//
//go:embed ask.py
var askSource string

// ErrNoPython says that there is no python3 to ask.
var ErrNoPython = errors.New(NeedsPython)

// ask runs ask.py, isolated from the working directory and the environment.
func ask(ctx context.Context, input []byte, answer any, args ...string) error {
	cmd := exec.CommandContext(ctx, PythonPath, append([]string{"-I", "-B", "-c", askSource}, args...)...)
	cmd.Stdin = bytes.NewReader(input)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"}
	out, err := cmd.Output()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return errors.New("python3 broke off: " + lastLine(string(ended.Stderr)))
	}
	if err != nil {
		return ErrNoPython
	}
	return json.Unmarshal(out, answer)
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// CheckPython returns why a program would not compile, nothing when it would.
func CheckPython(ctx context.Context, file string, source []byte) ([]Problem, error) {
	var problems []Problem
	if err := ask(ctx, source, &problems, "check"); err != nil {
		return nil, err
	}
	for i := range problems {
		problems[i].File = file
	}
	return problems, nil
}

// PythonBuiltins lists the names that a Python program finds, and the modules of
// the standard library; with a module, the public names of that one instead.
func PythonBuiltins(ctx context.Context, module string) ([]Builtin, error) {
	var all []Builtin
	return all, ask(ctx, nil, &all, "names", module)
}
