package tools

import (
	"fmt"

	"world/broker/law"
	"world/tools/policy"
)

func checkDescription(file any) description {
	return description{
		id: "ailang-check", title: "AILANG Check", effect: AilangCheck,
		text: "Say whether a program would load: syntax of a .py file, syntax, names and load (there is none) of a .star file, everything that AILANG checks of an .ail " +
			"file where the daemon has its binary. Nothing of it is run. Answers {\"ok\":true,\"passed\":bool,\"error_count\":n," +
			"\"errors\":[{code,message,file,line,column}]}, or {\"ok\":false,\"refused\":why} when nothing could be checked.",
		arguments: map[string]any{"path": file},
		required:  []string{"path"},
	}
}

func runDescription(file any) description {
	return description{
		id: "ailang-run", title: "AILANG Run (policy-gated)", effect: AilangRun, also: []law.Effect{AilangRunEnv, AilangRunNet},
		text: "Run one program of the worktree in a jail: .py with the system's python3, .star with the built-in Starlark, .ail where the daemon has " +
			"AILANG's binary. It starts in the root of the worktree and has no network. " + runBounds() +
			"It writes to a copy: when it ends by itself, with whatever exit code, its changes are taken over whole; when it is ended, none. " +
			protected() + "A change of one of these refuses the whole, and so does a pipe, a socket or a link that leads out: the answer has the output then, and " +
			"limit {\"reason\":\"changes_refused\",\"message\":path and why}. " + takenOver() + "Moving an existing directory fails with EXDEV. " +
			"Answers {\"admitted\":bool,\"exit_code\":n,\"stdout\":text,\"stderr\":text,\"limit\":null or {reason,stage} of which of these bounds ended it,\"decision\":why it was not admitted," +
			"\"kept\":whether its changes were taken over,\"changes\":[{path,kind,before,after,target_before,target}], of every file and link, up to 200, with \"omitted\" counting the rest; before and after hash content}; " +
			"what is taken over stays readable and writable to you, whatever mode the program gave it; " +
			"long output keeps its beginning and its end and says how much was left out. The worktree's own path is shown as \".\", and names in it " +
			"without it; bytes that are not UTF-8 are shown as U+FFFD each, and \"replaced_bytes\" counts them. " +
			"Costs one unit of Ailang.Run, or of Ailang.RunEnv or Ailang.RunNet when caps names Env or Net. " +
			"How programs are written is told by ailang-cli with op \"prompt\".",
		arguments: map[string]any{
			"path":      file,
			"stdin":     property("string", "Standard input; at most %d bytes; empty unless given.", maxStdin),
			"argv":      list(fmt.Sprintf("Arguments of the program; at most %d of %d bytes each.", maxArguments, maxArgument)),
			"args_json": property("string", "JSON text that is handed to main of an .ail or .star program; at most %d bytes.", maxArgsJSON),
			"caps": list("What the program may do: IO and FS unless given; Declassify, Env and Net besides, of which Env and Net must be " +
				"enabled by the operator and exclude each other."),
		},
		required: []string{"path"},
	}
}

// runBounds states what a run may have, by the names under which an answer says that it
// had no more.
func runBounds() string {
	p := policy.ForRun("", nil, nil)
	return fmt.Sprintf("It has %g seconds (timeout; cpu_limit: %g of processor time), %d MiB of private, writable memory for each process and %d MiB for all together (memory_limit) and no other anonymous memory, "+
		"%d processes and threads together, %d open files for each process, %d MiB of output (output_limit), of which %d KiB each of stdout and stderr are answered, "+
		"%d MiB of changes to the worktree (worktree_space_limit; file_size_limit: in one file) in %d files, folders and links, with the folders they lie in (worktree_files_limit), "+
		"and %d MiB of scratch space in /tmp with %d files, folders and links (scratch_files_limit). ",
		float64(p.TimeoutMillis)/1000, 2*float64(p.TimeoutMillis)/1000, runMemory>>20, runTogether>>20, runProcesses, runFiles, maxOutput(p)>>20, shownOutput>>10,
		layer>>20, layered, layer>>20, layer/4096)
}

// takenOver states how long, and of what size, changes are taken over.
func takenOver() string {
	return fmt.Sprintf("The %d MiB of changes count the whole size of each file that was written, holes too, and each name of it: more of that refuses the whole likewise. "+
		"To be judged and written they have what the program leaves of its time and %g seconds more; if that is not enough, none are kept, and the answer has output and exit code and "+
		"limit {\"reason\":%q,\"stage\":\"apply\"}. ", layer>>20, (takeOver / 3).Seconds(), notTakenOver)
}

func cliDescription(file any) description {
	return description{
		id: "ailang-cli", title: "AILANG CLI", effect: AilangCLI,
		text: "Ask the tool binary with one of its read-only operations: prompt (how programs are written here), docs_search, examples_list, " +
			"examples_show, examples_tags, examples_search, builtins_list, builtins_show, check, ai_check, policy_check, version; with AILANG's binary also " +
			"fmt, iface, test, tree, axioms and others. One that the binary does not have costs its unit and is refused with a list of those it has. Answers {\"ok\":bool,\"argv\":[...],\"exit_code\":n,\"stdout\":text,\"stderr\":text}, or " +
			"{\"ok\":false,\"refused\":why}.",
		arguments: map[string]any{
			"op":      property("string", "The operation, such as \"prompt\"."),
			"path":    file,
			"module":  property("string", "A module, builtin or example, for the operations that take one."),
			"query":   property("string", "What to search for, one line."),
			"package": property("string", "A package, for the operations that take one."),
			"flags": map[string]any{
				"type": "object", "additionalProperties": map[string]any{"type": "string"},
				"description": "Flags of the operation without their dashes, such as {\"json\":\"true\"}.",
			},
		},
		required: []string{"op"},
	}
}

func builtinsDescription() description {
	return description{
		id: "builtins-search", title: "Search builtins", effect: AilangDiscover,
		text: "Find what a language has without installing anything: Starlark's names and what programs get besides, Python's builtins and the modules of " +
			"its standard library, AILANG's builtins where the daemon has its binary. Answers {\"ok\":true,\"count\":found,\"matches\":[{name,effect,module}]}, " +
			"of a query the first 10 with \"cut\":true when there are more.",
		arguments: map[string]any{
			"query":  property("string", "Part of a name, in either case; all names unless given."),
			"module": property("string", "Only names of this module, such as \"python/json\" or \"starlark\"; of Python, this also looks into the module."),
		},
	}
}

func examplesDescription() description {
	return description{
		id: "examples-search", title: "Search examples", effect: AilangDiscover,
		text: "Find example programs by words of their description, tags, name or text, best first, at most 10. " +
			"ailang-cli with op \"examples_show\" and module FILE shows one whole. Answers {\"ok\":true,\"stdout\":list}, or {\"ok\":false,\"refused\":why}.",
		arguments: map[string]any{"query": property("string", "Words, such as \"read json\".")},
		required:  []string{"query"},
	}
}

// list is the schema of a list of strings.
func list(description string) map[string]any {
	return map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "description": description}
}
