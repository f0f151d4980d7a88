package policytool

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"world/tools/lang"
)

func listExamples(_ *tree, q Request, _ string) Response {
	all, err := lang.Examples(os.Getenv(examplesDir))
	if err != nil {
		return ran(false, "no examples corpus\n", "examples", "list")
	}
	wanted, filtered := q.Flags["tags"]
	var b strings.Builder
	for _, e := range all {
		if !filtered || slices.Contains(e.Tags, wanted) {
			fmt.Fprintf(&b, "%s: %s\n", e.File, e.About)
		}
	}
	return ran(true, b.String(), "examples", "list")
}

func showExample(_ *tree, q Request, _ string) Response {
	all, err := lang.Examples(os.Getenv(examplesDir))
	i := slices.IndexFunc(all, func(e lang.Example) bool { return e.File == q.Module })
	if err != nil || i < 0 {
		return ran(false, fmt.Sprintf("no example %q\n", clip(q.Module)), "examples", "show", q.Module)
	}
	return ran(true, all[i].Source, "examples", "show", q.Module)
}

func exampleTags(*tree, Request, string) Response {
	all, err := lang.Examples(os.Getenv(examplesDir))
	if err != nil {
		return ran(false, "no examples corpus\n", "examples", "tags")
	}
	counts := map[string]int{}
	for _, e := range all {
		for _, tag := range e.Tags {
			counts[tag]++
		}
	}
	var b strings.Builder
	for _, tag := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&b, "%s (%d)\n", tag, counts[tag])
	}
	return ran(true, b.String(), "examples", "tags")
}

func guide(*tree, Request, string) Response { return ran(true, lang.Guide, "prompt") }

func searchGuide(_ *tree, q Request, _ string) Response {
	if text := malformedQuery(q.Query); text != "" {
		return refused("docs_search: %s", text)
	}
	limit, err := q.number("limit", 1, 100, maxFound)
	if err != nil {
		return refused("docs_search: %s", err)
	}
	found := lang.SearchGuide(q.Query, int(limit))
	if len(found) == 0 {
		return ran(true, "nothing found\n", "docs", "search", q.Query)
	}
	return ran(true, strings.Join(found, "\n"), "docs", "search", q.Query)
}

// checkPolicy says in words what the policy allows.
func checkPolicy(t *tree, _ Request, digest string) Response {
	p := t.policy
	return ran(true, fmt.Sprintf("policy ok: %s\nsecurity_mode: %s\nallowed_caps: %s\ntimeout_ms: %d\nmax_fs_transfer_bytes: %d\nfs_deny_write: %d patterns\n",
		digest, p.SecurityMode, strings.Join(p.AllowedCaps, ", "), p.TimeoutMillis, p.MaxTransfer, len(p.DenyWrite)), "policy", "check")
}

func version(*tree, Request, string) Response {
	return ran(true, "world-tool: Starlark built in, Python by "+lang.PythonPath+"\n", "version")
}
