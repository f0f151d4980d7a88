package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"world/broker"
	"world/broker/law"
	"world/canon"
	"world/confine"
	"world/fault"
	"world/store"
	"world/tools/lang"
	"world/tools/policy"
	"world/tools/runner"
)

// order is one admitted run.
type order struct {
	path, stdin string
	argsJSON    string
	withArgs    bool
	argv        []string
	caps        []string // sorted; nil when none were named
}

// operatorCaps are the capabilities that an operator enables.
var operatorCaps = []string{"Env", "Net"}

// checkCaps refuses capabilities that cannot be enabled, and Net without an address.
func (h *Handler) checkCaps() error {
	for i, cap := range h.allow {
		if !slices.Contains(operatorCaps, cap) || slices.Contains(h.allow[:i], cap) {
			return fault.New("tools: new handler", fault.Invalid, "the capabilities that can be enabled for runs are %s, each once", strings.Join(operatorCaps, " and "))
		}
	}
	for _, address := range h.netAllow {
		if _, err := policy.ParseNetAllow(address); err != nil {
			return err
		}
	}
	if net := slices.Contains(h.allow, "Net"); net != (len(h.netAllow) > 0) {
		return fault.New("tools: new handler", fault.Invalid, "runs with Net need a list of addresses, and a list needs runs with Net")
	}
	return nil
}

// effectOf is the effect that a run with these capabilities spends.
func effectOf(caps []string) law.Effect {
	switch {
	case slices.Contains(caps, "Env"):
		return AilangRunEnv
	case slices.Contains(caps, "Net"):
		return AilangRunNet
	}
	return AilangRun
}

// admitRun checks a run's payload a second time: the transition did it first, and
// other transitions may plan the same effect.
func (h *Handler) admitRun(effect law.Effect, payload []byte) (o order, problem string) {
	bad := func(format string, args ...any) (order, string) {
		return o, fmt.Sprintf("broker: %s refuses the payload: "+format, append([]any{effect}, args...)...)
	}
	v, err := canon.Parse(payload, canon.Limits{})
	if err != nil || v.Kind() != canon.Object {
		return bad("it is not a JSON object")
	}
	for _, m := range v.Members() {
		ok := true
		switch m.Name {
		case "path":
			o.path, ok = m.Value.Text()
		case "stdin":
			o.stdin, ok = m.Value.Text()
		case "args_json":
			o.argsJSON, ok = m.Value.Text()
			o.withArgs = true
		case "argv":
			o.argv, ok = stringsOf(m.Value)
		case "caps":
			o.caps, ok = stringsOf(m.Value)
		default:
			return bad("unknown key %q", m.Name)
		}
		if !ok {
			return bad("%s is of another type", m.Name)
		}
	}
	switch {
	case !lawfulPath(o.path):
		return bad("path is not that of a file in the worktree")
	case slices.ContainsFunc(o.argv, func(arg string) bool { return strings.ContainsRune(arg, 0) }) || strings.ContainsRune(o.argsJSON, 0):
		return bad("an argument holds NUL")
	case len(slices.Compact(slices.Sorted(slices.Values(o.caps)))) != len(o.caps) || !slices.IsSorted(o.caps):
		return bad("caps are not sorted and distinct")
	case slices.ContainsFunc(o.caps, func(cap string) bool { return !slices.Contains(policy.RunCaps, cap) }):
		return bad("caps names an unknown capability")
	case slices.Contains(o.caps, "Env") && slices.Contains(o.caps, "Net"):
		return bad("caps names both Env and Net")
	case effectOf(o.caps) != effect:
		return bad("caps %v run as %s, not %s", o.caps, effectOf(o.caps), effect)
	}
	for _, cap := range operatorCaps {
		if slices.Contains(o.caps, cap) && !slices.Contains(h.allow, cap) {
			return o, fmt.Sprintf("capability %q is not enabled by the operator (serve --run-allow-caps)", cap)
		}
	}
	return o, ""
}

// lawfulPath is the path predicate of the transitions (reference/world.md §7.2).
func lawfulPath(path string) bool {
	return path != "" && !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "-") && !strings.ContainsRune(path, 0) &&
		!strings.HasSuffix(path, "/") && !slices.Contains(strings.Split(path, "/"), "..")
}

func stringsOf(v canon.Value) ([]string, bool) {
	all := []string{}
	for _, item := range v.Items() {
		text, ok := item.Text()
		if !ok {
			return nil, false
		}
		all = append(all, text)
	}
	return all, v.Kind() == canon.Array
}

// run carries out a run, in a layer of its own over the worktree.
func (h *Handler) run(ctx context.Context, job broker.Job) broker.Result {
	o, problem := h.admitRun(job.Effect, job.Payload)
	if problem != "" {
		return broker.Result{Status: store.StatusFailed, Detail: problem}
	}
	worktree, err := h.worktree(job.Episode)
	if err != nil {
		return h.unstarted(job, err)
	}
	p := policy.ForRun(worktree, o.caps, h.netAllow)
	rules, err := h.keepPolicy(o.policyName(job.Episode), p)
	if err != nil {
		return h.unstarted(job, err)
	}
	result, err := h.jail.Run(ctx, h.runSpec(job, worktree, o, p, rules))
	if err != nil {
		return h.unstarted(job, err)
	}
	h.trace(job, result)
	return h.judgeRun(o, p, result, policy.Digest(rules))
}

// policyName is the episode's policy, or that of its runs with these capabilities.
func (o order) policyName(episode store.EpisodeID) string {
	if o.caps == nil {
		return string(episode)
	}
	return string(episode) + ".run-" + strings.Join(o.caps, ".")
}

const (
	// ownLines is room in the output for what the tool says of the run.
	ownLines = 16 << 10
	// toolsClock is how long another tool's own clock may take to say that it has run out.
	toolsClock = 400 * time.Millisecond
	// shownOutput is how much of stdout and of stderr an agent sees, in bytes each.
	shownOutput = 64 << 10
	// takeOver is how long the changes of a run may take to be taken over.
	takeOver = 1200 * time.Millisecond
	layer    = 64 << 20 // bytes that a run may write to the worktree
	layered  = 4096     // files, directories and links of them
)

// runSpec is a run of the tool for a program. World-tool leaves clock and count to the
// jail, so that what is ended changes nothing. Another tool has its own, and may say
// so a moment before ours.
func (h *Handler) runSpec(job broker.Job, worktree string, o order, p policy.Policy, rules []byte) confine.Spec {
	s := h.common(job.Episode, worktree)
	s.Program = h.runs(o)
	wall := time.Duration(p.TimeoutMillis) * time.Millisecond
	s.Args = []string{runner.Verb, "--policy", confine.FilePath, "--quiet"}
	if s.Program == h.jail.Stage() || h.said != nil && h.said.speaksOurs() {
		s.Args = append(s.Args, "--"+runner.CallerBounds)
	} else {
		wall += toolsClock
	}
	if job.Deadline > 0 {
		wall = min(wall, job.Deadline-takeOver)
	}
	s.Floor = confine.Namespaces
	if o.withArgs {
		s.Args = append(s.Args, "--args-json", o.argsJSON)
	}
	s.Args = append(s.Args, "--", o.path)
	if len(o.argv) > 0 {
		s.Args = append(append(s.Args, "--"), o.argv...)
	}
	s.File, s.Stdin = rules, []byte(o.stdin)
	s.Overlay = &confine.Overlay{Law: rules, Bytes: layer, Files: layered, Time: takeOver}
	s.Limits = confine.Limits{
		Wall: wall, CPU: 2 * wall, Memory: 512 << 20, FileSize: layer, Files: 256, Processes: 128,
		Output: maxOutput(p) + ownLines, Keep: shownOutput, Scratch: layer,
	}
	return s
}

// runs is the binary that runs a program: world-tool runs what it knows unless
// the tool is a wrapper of it.
func (h *Handler) runs(o order) *confine.Image {
	ours := lang.Of(o.path) != lang.Ailang
	if h.tool == nil || ours && h.said != nil && !h.said.speaksOurs() {
		return h.jail.Stage()
	}
	return h.tool
}

// maxOutput is the output limit of a policy, in bytes.
func maxOutput(p policy.Policy) int64 {
	if p.MaxOutput == 0 {
		return policy.DefaultOutput
	}
	return p.MaxOutput
}
