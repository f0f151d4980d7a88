// Package starlark evaluates pure functions written in Starlark. It runs inside
// the jail.
//
// It promises that a program sees its input and nothing else: no files, no
// clock, no randomness, no modules, and that equal programs and inputs give
// equal outputs or end at the same step. It bounds steps; memory and time are
// bounded by the jail, because steps bound neither.
//
// Source: DESIGN D25; reference/world.md §3.2.
package starlark

import (
	"errors"
	"fmt"
	"io"

	"go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"world/coordinator/capsule"
)

// MaxSteps is how many steps a program may take, its top level and main together.
const MaxSteps = 50_000_000

var (
	errConvention = errors.New("the program has no main from one string to one string")
	errSteps      = errors.New("too many steps")
	errOutput     = errors.New("the output is too large")
)

// Rehearsal is a request that uses what most programs use.
func Rehearsal() []byte {
	return capsule.EncodeRequest([]byte(`
def texts(value, names):
    return {name: str(value[name]) for name in names if name in value and type(value[name]) == "string"}

def main(input):
    value = json.decode(input)
    for name in sorted(value):
        if len(name) > 9 or name.startswith("-") or "/" in name:
            fail("no: %s" % name)
    return json.encode({"request": texts(value, ["path"]), "rest": [value.get("n", 0) + 1, None, True]})
`), []byte(`{"path":"a b","n":1,"list":["x",{"y":-1.5}]}`))
}

// Serve is the verb "capsule": one framed request on stdin, the output on stdout.
func Serve(_ []string, stdin io.Reader, stdout, stderr io.Writer) int {
	source, input, err := capsule.DecodeRequest(stdin)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return capsule.ExitRequest
	}
	output, err := Eval(source, string(input), MaxSteps)
	if err == nil {
		_, err = io.WriteString(stdout, output)
	}
	if err == nil {
		return capsule.ExitDone
	}
	fmt.Fprintln(stderr, err)
	switch {
	case errors.Is(err, errConvention):
		return capsule.ExitInvalid
	case errors.Is(err, errSteps), errors.Is(err, errOutput):
		return capsule.ExitLimit
	}
	return capsule.ExitFailed
}

// Eval runs main(input) of a program.
func Eval(source []byte, input string, steps uint64) (string, error) {
	var overrun bool
	thread := &starlark.Thread{
		Name:  "capsule",
		Print: func(*starlark.Thread, string) {}, // an output has one way out
		OnMaxSteps: func(t *starlark.Thread) {
			overrun = true
			t.Cancel(errSteps.Error())
		},
	}
	thread.SetMaxExecutionSteps(steps)
	output, err := call(thread, source, input)
	if overrun {
		return "", errSteps
	}
	return output, err
}

func call(thread *starlark.Thread, source []byte, input string) (string, error) {
	names := starlark.StringDict{"json": json.Module}
	globals, err := starlark.ExecFileOptions(&syntax.FileOptions{}, thread, "main.star", source, names)
	if err != nil {
		return "", fmt.Errorf("the program does not load: %w", err)
	}
	main, ok := globals["main"].(*starlark.Function)
	if !ok || main.NumParams() != 1 || main.NumKwonlyParams() != 0 || main.HasVarargs() || main.HasKwargs() {
		return "", errConvention
	}
	value, err := starlark.Call(thread, main, starlark.Tuple{starlark.String(input)}, nil)
	if err != nil {
		return "", fmt.Errorf("main failed: %w", err)
	}
	output, ok := starlark.AsString(value)
	if !ok {
		return "", fmt.Errorf("%w: it returned %s", errConvention, value.Type())
	}
	if len(output) > capsule.MaxOutput {
		return "", errOutput
	}
	return output, nil
}
