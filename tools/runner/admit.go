package runner

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"world/tools/lang"
	"world/tools/policy"
	"world/tools/policytool"
)

// admit decides whether a program runs, before anything of it does.
func admit(p policy.Policy, file string, withArgs bool) decision {
	deny := func(kind, message string) decision {
		return decision{ErrorKind: kind, Message: message, exit: exitDenied}
	}
	language := lang.Of(file)
	switch language {
	case "":
		return deny(unsupported, file+" is "+lang.NotAProgram)
	case lang.Ailang:
		return deny(unsupported, lang.NeedsAilang)
	}
	w, err := policytool.OpenWorktree(p)
	if err != nil {
		return decision{ErrorKind: readFailed, Message: "the sandbox is not there", exit: exitRefused}
	}
	defer w.Close()
	source, err := w.Read(file, p.MaxSource)
	switch {
	case err != nil && strings.Contains(err.Error(), "transfer cap"):
		return deny(tooLarge, fmt.Sprintf("%s exceeds max_source_bytes (%d)", file, p.MaxSource))
	case err != nil:
		return decision{ErrorKind: readFailed, Message: fmt.Sprintf("%s: %s", file, err), exit: exitRefused}
	case p.Allows("Net"):
		d := deny(violation, "a "+string(language)+" program has no network: there is no brokered way out yet")
		d.MissingFromCaps = []string{"Net"}
		return d
	case withArgs && language == lang.Python:
		return deny(notAFunction, "args_json is handed to main of an .ail or .star program; a .py program takes argv and stdin")
	}
	if problems := unloadable(language, file, source); len(problems) > 0 {
		return deny(unchecked, strings.Join(problems, "\n"))
	}
	if _, err := os.Stat(lang.PythonPath); language == lang.Python && err != nil {
		return deny(unsupported, lang.NeedsPython)
	}
	return decision{OK: true, AllowedCaps: p.AllowedCaps, source: source, language: string(language)}
}

// unloadable lists why a Starlark program would not load. Python says it itself.
func unloadable(language lang.Language, file, source string) (problems []string) {
	if language != lang.Starlark {
		return nil
	}
	for _, p := range lang.CheckStarlark(file, []byte(source)) {
		problems = append(problems, fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message))
	}
	return problems
}

// unenforced names what the policy limits and the language gives no hold on: a
// Python program's single acts are not seen.
func unenforced(p policy.Policy, d decision) []string {
	names := []string{}
	if d.language != string(lang.Python) {
		return names
	}
	for _, cap := range []string{"FS", "IO"} {
		if !slices.Contains(p.Granted(), cap) {
			names = append(names, "allowed_caps without "+cap)
		}
	}
	for _, label := range []string{"FS"} {
		if _, ok := p.Budgets[label]; ok {
			names = append(names, "budgets."+label)
		}
	}
	return append(names, "max_fs_transfer_bytes")
}
