package policytool

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"world/tools/lang"
)

const (
	maxFound    = 10   // examples or sections that a search answers
	maxQuery    = 4096 // bytes
	askTime     = 6 * time.Second
	examplesDir = "AILANG_EXAMPLES" // names a directory of examples in place of those built in
)

// builtins lists names with what they need, one a line, after a line with their number.
func builtins(_ *tree, q Request, _ string) Response {
	asJSON, err := q.set("json")
	if err != nil {
		return refused("builtins_list: %s", err)
	}
	all, err := named(q.Flags["module"])
	if err != nil {
		return refused("builtins_list: %s", err)
	}
	all = slices.DeleteFunc(all, func(b lang.Builtin) bool { return !folded(b.Name, q.Flags["query"]) })
	if asJSON {
		return ran(true, builtinsDocument(all), "builtins", "list", "--json")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Total: %d builtins\n", len(all))
	for _, one := range all {
		fmt.Fprintf(&b, "%s [%s] %s\n", one.Name, one.Effect, one.Module)
	}
	return ran(true, b.String(), "builtins", "list")
}

func builtinsDocument(all []lang.Builtin) string {
	type item struct {
		Name        string `json:"name"`
		Module      string `json:"module"`
		IsPure      bool   `json:"is_pure"`
		Effect      string `json:"effect,omitempty"`
		Description string `json:"description,omitempty"`
	}
	items := make([]item, len(all))
	for i, b := range all {
		items[i] = item{b.Name, b.Module, b.Effect == "pure", b.Effect, b.Use}
	}
	return document(map[string]any{"count": len(items), "builtins": items})
}

// named returns the names of a module, or of all that need no import, by module and
// name. Where there is no python3, Starlark's alone: nothing is made up.
func named(module string) ([]lang.Builtin, error) {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	all := lang.StarlarkBuiltins()
	name, isPython := strings.CutPrefix(module, "python/")
	if module == "" || isPython || !strings.HasPrefix(module, "starlark") {
		python, err := lang.PythonBuiltins(ctx, strings.TrimPrefix(name, "python"))
		if err != nil && err != lang.ErrNoPython {
			return nil, err
		}
		all = append(all, python...)
	}
	if module != "" {
		all = slices.DeleteFunc(all, func(b lang.Builtin) bool {
			return b.Module != module && !strings.HasSuffix(b.Module, "/"+module)
		})
	}
	slices.SortFunc(all, func(a, b lang.Builtin) int {
		return strings.Compare(a.Module+"\x00"+a.Name, b.Module+"\x00"+b.Name)
	})
	return all, nil
}

// folded reports whether a name holds a text, whatever the case.
func folded(name, text string) bool {
	return strings.Contains(strings.ToLower(name), strings.ToLower(text))
}

// builtin shows one name, "module/name" or the name alone.
func builtin(_ *tree, q Request, _ string) Response {
	module, name := "", q.Module
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		module, name = name[:i], name[i+1:]
	}
	all, err := named(module)
	if err != nil {
		return refused("builtins_show: %s", err)
	}
	var b strings.Builder
	for _, one := range all {
		if one.Name == name {
			fmt.Fprintf(&b, "%s [%s] %s\n", one.Name, one.Effect, one.Module)
			if one.Use != "" {
				fmt.Fprintf(&b, "   %s\n", one.Use)
			}
		}
	}
	if b.Len() == 0 {
		return ran(false, fmt.Sprintf("no builtin %q\n", clip(q.Module)), "builtins", "show", q.Module)
	}
	return ran(true, b.String(), "builtins", "show", q.Module)
}

func searchExamples(_ *tree, q Request, _ string) Response {
	if text := malformedQuery(q.Query); text != "" {
		return refused("examples_search: %s", text)
	}
	all, err := lang.Examples(os.Getenv(examplesDir))
	if err != nil {
		return ran(false, "no examples corpus\n", "examples", "search", q.Query)
	}
	found := lang.SearchExamples(all, q.Query, maxFound)
	var b strings.Builder
	fmt.Fprintf(&b, "🔍 Search: %q\n   Found %d examples\n\n", q.Query, len(found))
	for i, f := range found {
		fmt.Fprintf(&b, "%d. %s", i+1, f)
	}
	return ran(true, b.String(), "examples", "search", q.Query)
}

// malformedQuery says why a query is refused, "" when it is not.
func malformedQuery(query string) string {
	switch {
	case strings.HasPrefix(query, "-"):
		return fmt.Sprintf("%q looks like a flag; flags go in the flags field", clip(query))
	case strings.TrimSpace(query) == "" || len(query) > maxQuery || strings.ContainsAny(query, "\x00\n"):
		return "query is malformed"
	}
	return ""
}
