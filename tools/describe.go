package tools

import (
	"fmt"
	"strings"

	"world/broker/law"
	"world/store"
	"world/tools/policy"
	"world/tools/policytool"
)

// description is what an agent is told of a transition, and what it spends.
type description struct {
	id        store.TransitionID
	title     string
	effect    law.Effect
	also      []law.Effect // declared besides
	text      string
	arguments map[string]any // JSON schemas
	required  []string
}

// descriptions lists the coding transitions in the order of their ids.
func descriptions() []description {
	file := property("string", "File, relative to the root of the worktree, such as \"src/main.py\"; at most %d bytes.", maxPath)
	return []description{
		checkDescription(file), cliDescription(file), editDescription(file), readDescription(file), runDescription(file),
		writeDescription(file), builtinsDescription(), examplesDescription(), listDescription(), searchDescription(),
	}
}

func readDescription(file any) description {
	return description{
		id: "ailang-read", title: "Read (sandboxed)", effect: WorkspaceRead,
		text: "Read a text file of the worktree in UTF-8, whole or part of it. " + sized("What is read", policytool.MaxContent) +
			fmt.Sprintf("A file above %d MiB is read in part alone, one above %d MiB and a line above what is read by bytes alone. ", policy.DefaultTransfer>>20, policytool.MaxScanned>>20) +
			"Binary files and a .git cannot be read. Answers {\"ok\":true,\"content\":text}, or {\"ok\":false,\"refused\":why}. " +
			"With offset or limit the answer also has \"lines\", how many the file has, or with bytes \"bytes\", its size; \"cut\":true when it is not the whole file; " +
			"\"why\", \"limit\" or, when offset passes over the end, \"past_end\"; and \"next\", the offset at which the rest begins.",
		arguments: map[string]any{
			"path":   file,
			"offset": count(0, 0, "How many lines to pass over; 0 begins at the first."),
			"limit":  count(1, 0, "How many lines to read at most; 1 or more."),
			"bytes":  property("boolean", "Count offset and limit in bytes, not lines; what is read is whole characters, one at least."),
		},
		required: []string{"path"},
	}
}

func writeDescription(file any) description {
	return description{
		id: "ailang-write", title: "Write (sandboxed)", effect: WorkspaceWrite,
		text: "Create a text file in the worktree or replace its whole content. Folders that are not there are made. " +
			"Prefer ailang-edit to change part of a file. " + sized("The content", maxText) + requestSize + protected() +
			"Answers {\"ok\":true,\"changes\":[{path,kind,before,after}]} with the content by hash and each new folder, and \"created\":true for a new file, or {\"ok\":false,\"refused\":why} with the file unchanged.",
		arguments: map[string]any{"path": file, "content": property("string", "The whole new content.")},
		required:  []string{"path", "content"},
	}
}

func editDescription(file any) description {
	return description{
		id: "ailang-edit", title: "Edit (sandboxed)", effect: WorkspaceWrite,
		text: "Replace one piece of text in a text file of the worktree. old_text must occur exactly once: " +
			"copy it from the file as it is, white space included, with enough of its surroundings to be unique. " +
			"An empty new_text deletes it. " + fmt.Sprintf("The file: at most %d MiB. ", policy.DefaultTransfer>>20) + sized("old_text and new_text together", maxText) + requestSize + protected() +
			"Answers {\"ok\":true,\"line\":first changed line,\"diff\":hunk, of long lines what lies about the change,\"changes\":[{path,kind,before,after}]}, or {\"ok\":false,\"refused\":why} with the file unchanged.",
		arguments: map[string]any{
			"path":     file,
			"old_text": property("string", "The text to replace. It must occur exactly once in the file."),
			"new_text": property("string", "The text to put in its place; empty to delete."),
		},
		required: []string{"path", "old_text", "new_text"},
	}
}

func listDescription() description {
	return description{
		id: "workspace-list", title: "List files (sandboxed)", effect: WorkspaceRead,
		text: "List the names in a directory of the worktree, or with glob those at any depth below it that match. " +
			"Names come in byte order; links are listed and not followed; a .git is left out. " +
			"Answers {\"ok\":true,\"entries\":[{path,type,size}]} with \"cut\":true and \"why\" (limit, size, time, or depth: folders lie too deep to be entered) when there are more.",
		arguments: map[string]any{
			"path":  property("string", "Directory, relative to the root of the worktree; the root unless given; at most %d bytes.", maxPath),
			"glob":  globArgument,
			"limit": count(1, policytool.MaxEntries, "How many names to answer at most, 1 to 5000; 500 unless given."),
		},
	}
}

func searchDescription() description {
	return description{
		id: "workspace-search", title: "Search files (sandboxed)", effect: WorkspaceRead,
		text: "Find the lines that match a regular expression (RE2 syntax, one line at a time, without its line break of \\n or \\r\\n) in the text files below a directory " +
			"of the worktree, or in one file. Files come in byte order of their paths; links are not followed; a .git, binary files and " +
			"files above 8 MiB are passed over. Answers {\"ok\":true,\"matches\":[{path,line,text}],\"files\":searched,\"skipped\":passed over} " +
			"with \"cut\":true and \"why\" (limit, size, time, or depth: folders lie too deep to be entered) when there are more.",
		arguments: map[string]any{
			"query":       property("string", "The regular expression, 1 to 1024 bytes."),
			"path":        folder,
			"glob":        globArgument,
			"literal":     property("boolean", "Take the query as plain text."),
			"ignore_case": property("boolean", "Match letters of either case."),
			"limit":       count(1, policytool.MaxMatches, "How many lines to answer at most, 1 to 1000; 100 unless given."),
		},
		required: []string{"query"},
	}
}

var (
	folder       = property("string", "Directory or file, relative to the root of the worktree; the root unless given; at most %d bytes.", maxPath)
	globArgument = property("string", "Only names that match: * ? [a-z] [^a-z] within one name, ** for any number of names, such as \"src/**/*.py\". "+
		"Without a slash, names at any depth, such as \"*.py\".")
)

// requestSize is what the surfaces bound before anything is decoded.
const requestSize = "A whole request: at most 4 MiB. "

// sized states a limit as it is counted.
func sized(what string, limit int) string {
	return fmt.Sprintf("%s: at most %d bytes as JSON text, where a quote, backslash, tab or line break counts 2 "+
		"and any other control character up to 6. ", what, limit)
}

// protected names what no tool writes.
func protected() string {
	names, files := policy.Protected()
	return fmt.Sprintf("Read-only, at any depth and in any case: %s and all below them, and files named %s. ",
		strings.Join(names, ", "), strings.Join(files, ", "))
}

// property is the schema of an argument of a simple type.
func property(kind, description string, args ...any) map[string]any {
	return map[string]any{"type": kind, "description": fmt.Sprintf(description, args...)}
}

// count is the schema of a whole number; most is 0 for no such bound.
func count(least, most int, description string) map[string]any {
	schema := property("integer", "%s", description)
	schema["minimum"] = least
	if most > 0 {
		schema["maximum"] = most
	}
	return schema
}
