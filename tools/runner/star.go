package runner

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"

	"go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"world/tools/lang"
	"world/tools/policy"
	"world/tools/policytool"
)

// WorkerVerb is the hidden verb that is the process of a Starlark program: what it
// does to memory ends it and not its watcher.
const WorkerVerb = "run-starlark"

// maxStack bounds recursion, in bytes.
const maxStack = 64 << 20

// Work is the hidden verb. It takes the command line of the verb "run", and is a
// process of its own: what it does to its descriptors and its stack is for good.
func Work(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	debug.SetMaxStack(maxStack)
	fail := func(what any) int {
		fmt.Fprintln(stderr, "Error:", what)
		return 1
	}
	own, err := partWords()
	if err != nil {
		return fail(err)
	}
	defer own.Close()
	stderr = own
	o, problem := readOrder(args)
	if problem != "" {
		return fail(problem)
	}
	p, _, problem := readPolicy(o.policyFile)
	if problem != "" {
		return fail(problem)
	}
	w, err := policytool.OpenWorktree(p)
	if err != nil {
		return fail(err)
	}
	defer w.Close()
	source, err := w.Read(o.file, p.MaxSource)
	if err != nil {
		return fail(err)
	}
	h := &host{policy: p, worktree: w, stdin: stdin, stdout: stdout, stderr: stderr, args: o.args, left: p.Budgets["FS"]}
	_, h.counted = p.Budgets["FS"]
	err = h.run(o, source)
	var exit exitCode
	var failed *starlark.EvalError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return int(exit)
	case errors.As(err, &failed):
		fmt.Fprintln(stderr, backtrace(failed))
		return 1
	}
	return fail(err)
}

// host is what a program reaches out through.
type host struct {
	policy         policy.Policy
	worktree       *policytool.Worktree
	stdin          io.Reader
	stdout, stderr io.Writer
	args           []string
	counted        bool // file operations have a budget
	left           int  // of it
}

// exitCode ends a program that asked for it.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// run runs the top level of a program, and then its entry if it defines one.
func (h *host) run(o order, source string) error {
	thread := &starlark.Thread{Name: o.file}
	boundDepth(thread)
	globals, err := starlark.ExecFileOptions(lang.Dialect, thread, o.file, source, h.predeclared())
	if err != nil {
		return err
	}
	main, ok := globals[h.policy.Entry].(starlark.Callable)
	switch {
	case !ok && o.withArgs:
		return fmt.Errorf("args_json is handed to %s, which %s does not define", h.policy.Entry, o.file)
	case !ok:
		return nil
	}
	var given starlark.Tuple
	if o.withArgs {
		value, err := starlark.Call(thread, json.Module.Members["decode"], starlark.Tuple{starlark.String(o.argsJSON)}, nil)
		if err != nil {
			return err
		}
		given = starlark.Tuple{value}
	}
	_, err = starlark.Call(thread, main, given, nil)
	return err
}

// predeclared are the names of lang.Modules and lang.Host.
func (h *host) predeclared() starlark.StringDict {
	args := make([]starlark.Value, len(h.args))
	for i, arg := range h.args {
		args[i] = starlark.String(arg)
	}
	list := starlark.NewList(args)
	fs := &starlarkstruct.Module{Name: "fs", Members: starlark.StringDict{}}
	for name, act := range h.fileActs() {
		fs.Members[name] = h.fileAct("fs."+name, act)
	}
	names := starlark.StringDict{
		"args": list, "fs": fs,
		"eprint": h.builtin("eprint", "IO", h.eprint), "print": h.builtin("print", "IO", h.print),
		"stdin": h.builtin("stdin", "IO", h.readStdin), "env": h.builtin("env", "Env", env),
		"exit": starlark.NewBuiltin("exit", exit),
	}
	for name, module := range lang.Modules {
		names[name] = module
	}
	return names
}

type call func(*starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error)

// builtin is a name that needs a capability.
func (h *host) builtin(name, cap string, do call) *starlark.Builtin {
	return starlark.NewBuiltin(name, func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if !slices.Contains(h.policy.Granted(), cap) {
			return nil, fmt.Errorf("effect '%s' requires capability, but none provided: name it in caps", cap)
		}
		return do(b, args, kwargs)
	})
}

func exit(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	code := 0
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "code?", &code); err != nil {
		return nil, err
	}
	if code < 0 || code > 255 {
		return nil, fmt.Errorf("exit: a code is from 0 to 255, not %d", code)
	}
	return nil, exitCode(code)
}

func env(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var name string
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "name", &name); err != nil {
		return nil, err
	}
	if value, ok := os.LookupEnv(name); ok {
		return starlark.String(value), nil
	}
	return starlark.None, nil
}
