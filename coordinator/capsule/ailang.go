package capsule

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"world/confine"
	"world/fault"
)

// ailang is the tongue of the AILANG binary: no capability, the source as a module
// below the working directory, the input as one JSON argument, the output on stdout
// with one line break (reference/world.md §8). It is not our own code, so it needs
// level namespaces.
var ailang = tongue{
	name: "ailang",
	spec: func(source, input []byte) (confine.Spec, error) {
		var argument bytes.Buffer
		encoder := json.NewEncoder(&argument)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(string(input)); err != nil {
			return confine.Spec{}, fault.Wrap("capsule: run", fault.Internal, err, "")
		}
		if argument.Len() > maxArgument {
			return confine.Spec{}, fault.New("capsule: run", fault.Limit, "an input to this interpreter is at most %d bytes as JSON text", maxArgument)
		}
		return confine.Spec{
			Floor: confine.Namespaces,
			Args: []string{"run", "--quiet", "--caps", "", "--entry", "main",
				"--args-json", string(bytes.TrimSuffix(argument.Bytes(), []byte("\n"))), modulePath},
			File: source, FileAt: modulePath,
			Env: []string{"AILANG_FS_SANDBOX=" + confine.Home}, Limits: ailangLimits,
		}, nil
	},
	judge: judgeAilang,
}

const (
	// modulePath is where the source lies, and its module's name without the ending.
	modulePath = "host/capsule/main.ail"
	// maxArgument is how long one argument of a program can be on Linux, less its end.
	maxArgument = 128<<10 - 2
)

// ailangLimits leave the interpreter room for its compiler and its cache.
var ailangLimits = confine.Limits{
	Wall: longest, CPU: longest, Memory: 1 << 30, FileSize: 64 << 20, Files: 64,
	Processes: 64, Output: MaxOutput + 64<<10, Scratch: 64 << 20,
}

// judgeAilang turns the end of a run into the kinds that Runner promises. The exit
// code says whether it succeeded and no more.
func judgeAilang(ctx context.Context, r confine.Result) ([]byte, error) {
	if r.Bound != confine.Unbounded || len(r.Stdout) > MaxOutput+1 {
		return bounded(ctx, r)
	}
	if r.Exit != 0 {
		return nil, fault.Wrap("capsule: run", fault.Failed, errors.New(string(r.Stderr)), "the program failed")
	}
	return bytes.TrimSuffix(r.Stdout, []byte("\n")), nil
}

// pure answers with its input and one more character.
var pure = trial{source: "module host/capsule/main\n\nexport func main(input: string) -> string {\n  input ++ \"!\"\n}\n"}

// impure are programs that no interpreter may run without a capability.
var impure = []trial{
	{"IO", "module host/capsule/main\n\nimport std/io (println)\n\nexport func main(input: string) -> string ! {IO} {\n" +
		"  println(\"" + leaked + "\");\n  input ++ \"!\"\n}\n"},
	{"FS", "module host/capsule/main\n\nimport std/fs (readFile)\n\nexport func main(input: string) -> string ! {FS} {\n" +
		"  readFile(\"" + modulePath + "\")\n}\n"},
	{"Env", "module host/capsule/main\n\nimport std/env (getEnvOr)\n\nexport func main(input: string) -> string ! {Env} {\n" +
		"  getEnvOr(\"AILANG_FS_SANDBOX\", \"" + leaked + "\")\n}\n"},
}
