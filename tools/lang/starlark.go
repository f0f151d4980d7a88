package lang

import (
	"errors"
	"fmt"
	"slices"

	"go.starlark.net/lib/json"
	"go.starlark.net/lib/math"
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"go.starlark.net/syntax"
)

// Dialect is the Starlark of programs: a transition has no loops without end and
// no files, a program has both.
var Dialect = &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}

// Modules are predeclared in every Starlark program and touch nothing.
var Modules = starlark.StringDict{"json": json.Module, "math": math.Module}

// Host are the names that reach out of a Starlark program, the effect of each, and
// what it is for. Who runs programs provides exactly these.
var Host = map[string]struct{ Effect, Use string }{
	"args":      {"pure", "args: the list of the program's arguments, strings"},
	"eprint":    {"IO", "eprint(*values): like print, to standard error"},
	"env":       {"Env", "env(name): a variable of the run's own environment, or None"},
	"exit":      {"pure", "exit(code): ends the program with an exit code from 0 to 255"},
	"print":     {"IO", "print(*values): values and a line break to standard output"},
	"stdin":     {"IO", "stdin(): all of standard input, a string"},
	"fs.exists": {"FS", "fs.exists(path): whether a file or directory is there"},
	"fs.list":   {"FS", "fs.list(path): the names in a directory, sorted; directories end in /"},
	"fs.mkdir":  {"FS", "fs.mkdir(path): makes a directory; the one above it must exist"},
	"fs.read":   {"FS", "fs.read(path): the text of a file"},
	"fs.remove": {"FS", "fs.remove(path): removes a file or a link"},
	"fs.write":  {"FS", "fs.write(path, text): makes a file or replaces its whole content"},
}

// hostModules hold the names of Host that have a dot.
var hostModules = []string{"fs"}

// IsPredeclared reports whether a name stands for something before a program begins.
func IsPredeclared(name string) bool {
	_, module := Modules[name]
	_, host := Host[name]
	return module || host || slices.Contains(hostModules, name)
}

// CheckStarlark returns why a program would not load, nothing when it would.
func CheckStarlark(file string, source []byte) []Problem {
	program, err := compile(file, source)
	var syntaxError syntax.Error
	var unresolved resolve.ErrorList
	switch {
	case err == nil:
		return loads(file, program)
	case errors.As(err, &unresolved):
		problems := make([]Problem, len(unresolved))
		for i, e := range unresolved {
			problems[i] = problemAt("STAR_NAME", e.Msg, file, e.Pos)
		}
		return problems
	case errors.As(err, &syntaxError):
		return []Problem{problemAt("STAR_SYNTAX", syntaxError.Msg, file, syntaxError.Pos)}
	}
	return []Problem{{Code: "STAR_SYNTAX", Message: err.Error(), File: file}}
}

// loads names what a program would load: a program is one file.
func loads(file string, program *starlark.Program) (problems []Problem) {
	for i := range program.NumLoads() {
		module, at := program.Load(i)
		problems = append(problems, problemAt("STAR_LOAD", fmt.Sprintf("load of %q: a program is one file and loads no other; put what it needs into it", module), file, at))
	}
	return problems
}

func problemAt(code, message, file string, at syntax.Position) Problem {
	return Problem{code, message, file, int(at.Line), int(at.Col)}
}

// Builtin is one name that a language has without any import of a package.
type Builtin struct {
	Name   string
	Effect string // "pure", an effect, "module", or "any" where the language does not say
	Module string
	Use    string // "" when nothing is known
}

// StarlarkBuiltins lists what a Starlark program finds, by module and name.
func StarlarkBuiltins() []Builtin {
	var all []Builtin
	for name := range starlark.Universe {
		if _, ours := Host[name]; !ours {
			all = append(all, Builtin{Name: name, Effect: "pure", Module: "starlark"})
		}
	}
	for name, host := range Host {
		all = append(all, Builtin{name, host.Effect, "starlark", host.Use})
	}
	for name, value := range Modules {
		module, ok := value.(*starlarkstruct.Module)
		if !ok {
			panic(fmt.Sprintf("lang: %s is not a module", name))
		}
		for member := range module.Members {
			all = append(all, Builtin{Name: name + "." + member, Effect: "pure", Module: "starlark/" + name})
		}
	}
	return all
}
