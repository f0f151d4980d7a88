package tools

import (
	"context"
	"strings"
	"time"

	"world/broker"
	"world/confine"
	"world/store"
	"world/tools/lang"
	"world/tools/policy"
	"world/tools/runner"
)

// run carries out a run, in a layer of its own over the worktree.
func (h *Handler) run(ctx context.Context, job broker.Job) broker.Result {
	o, problem := h.admitRun(job.Effect, job.Payload)
	if problem != "" {
		return refusedFor(problem)
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
	if result.Started {
		h.tidy(worktree)
	}
	return h.judgeRun(o, p, result, policy.Digest(rules))
}

// runInfix is between an episode and the capabilities in a policy's name. No
// episode's name has a dot.
const runInfix = ".run-"

// policyName is the episode's policy, or that of its runs with these capabilities.
func (o order) policyName(episode store.EpisodeID) string {
	if o.caps == nil {
		return string(episode)
	}
	return string(episode) + runInfix + strings.Join(o.caps, ".")
}

const (
	// ownLines is room in the output for what the tool says of the run.
	ownLines = 16 << 10
	// toolsClock is how long another tool's own clock may take to say that it has run out.
	toolsClock = 400 * time.Millisecond
	// shownOutput is how much of stdout and of stderr an agent sees, in bytes each.
	shownOutput = 64 << 10
	// takeOver is how long the changes of a run may take to be taken over beyond the
	// run's own time, a third of it until they are judged and written. What the program
	// leaves of its time is time for that too.
	takeOver = 1500 * time.Millisecond
	layer    = 64 << 20 // bytes that a run may write to the worktree
	layered  = 4096     // files, directories and links of them, with the directories that they lie in
	// What the processes of a run may have.
	runMemory    = 512 << 20 // bytes of each
	runTogether  = 1 << 30   // bytes of all together
	runProcesses = 128       // processes and threads, together
	runFiles     = 256       // open descriptors of each
)

// runSpec is a run of the tool for a program. World-tool leaves the clock to the jail
// and dies with what prints too much, so that what is ended changes nothing. Another tool has its own, and may say
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
	s.File, s.Stdin, s.Warm = rules, []byte(o.stdin), true
	s.Overlay = taking(rules)
	s.Limits = confine.Limits{
		Wall: wall, CPU: 2 * wall, Memory: runMemory, Together: runTogether, FileSize: layer, Files: runFiles, Processes: runProcesses,
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
