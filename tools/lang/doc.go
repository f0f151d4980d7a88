// Package lang is what world-tool knows of the languages that programs are written
// in: which file is a program of which language, whether it would load, what names a
// language really has, and examples of it. It runs inside the jail.
//
// Starlark is built in. Python is asked of the python3 that the jail offers, and
// AILANG belongs to its own binary; where an interpreter is missing, answers say so
// and nothing is made up. Checking loads a program and runs nothing of it.
//
// Source: DESIGN D24, D25, D28; reference/world.md §7.1, reference/tool-contract.md §2.1.
package lang

import (
	"path"
	"strings"
)

// Language is one that a program can be written in. Append only.
type Language string

const (
	Ailang   Language = "AILANG"
	Python   Language = "Python"
	Starlark Language = "Starlark"
)

// Of tells a program's language by the end of its file's name, "" for none.
func Of(file string) Language {
	return map[string]Language{".ail": Ailang, ".py": Python, ".star": Starlark}[strings.ToLower(path.Ext(file))]
}

// Texts of refusals that several operations share.
const (
	NotAProgram = "not a program: its name must end in .star, .py or .ail"
	NeedsAilang = "an .ail program needs the AILANG binary (serve --tool-ailang-bin), which this daemon does not have"
	NeedsPython = "a .py program needs python3, which this machine does not offer"
)

// Problem is why a program would not load.
type Problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`   // counted from 1
	Column  int    `json:"column,omitempty"` // likewise
}
