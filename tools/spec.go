package tools

import (
	"slices"
	"time"

	"world/broker"
	"world/broker/law"
	"world/confine"
	"world/store"
	"world/tools/policytool"
)

// spec is one run of the tool for an operation.
func (h *Handler) spec(job broker.Job, worktree string, rules []byte, request request) confine.Spec {
	limits := toolLimits
	if job.Deadline > 0 {
		limits.Wall = min(limits.Wall, job.Deadline)
	}
	image, args := h.program(request), []string{policytool.Verb, "--policy", confine.FilePath}
	if image == nil && h.needsMore(request) {
		image = h.jail.Stage()
	}
	s := h.common(job.Episode, worktree)
	s.Floor, s.Program, s.Args, s.File, s.Stdin = h.floor, image, args, rules, request.value.Bytes()
	s.ReadOnly, s.Limits, s.Warm = !served[job.Effect].writes, limits, image == nil
	if h.layers(job.Effect, image) {
		s.Overlay = taking(rules)
		if job.Deadline > 0 {
			s.Limits.Wall = min(limits.Wall, job.Deadline-takeOver)
		}
	}
	return s
}

// layers reports whether what a tool writes for an operation is judged before the
// worktree has it. That of world-tool is, by world-tool, as it writes, and so is that of
// a wrapper of it; another tool is not believed to keep to the path law, where the
// machine has layers.
func (h *Handler) layers(effect law.Effect, image *confine.Image) bool {
	another := image != nil && image != h.jail.Stage() && (h.said == nil || !h.said.speaksOurs())
	return another && served[effect].writes && h.jail.Reach().Level == confine.Namespaces
}

// taking is the layer in which a program's changes lie until it has ended. A worktree's
// own .git holds a path of the host.
func taking(rules []byte) *confine.Overlay {
	return &confine.Overlay{Law: rules, Bytes: layer, Files: layered, Shut: []string{".git"}, Time: takeOver}
}

// common is what all runs for an episode share: environment, user and sight.
func (h *Handler) common(episode store.EpisodeID, worktree string) confine.Spec {
	s := confine.Spec{
		Env: []string{
			"HOME=" + confine.Home, "PATH=/usr/bin:/bin", "LANG=C", "LC_ALL=C",
			"AILANG_CACHE_DIR=" + confine.Home,
		},
		Worktree: worktree, Readable: slices.Clone(h.beside), Hidden: []string{h.state, h.root},
		User: confine.OfWorktree(worktree),
	}
	if h.examples != "" {
		s.Env = append(s.Env, "AILANG_EXAMPLES="+h.examples)
		s.Readable = append(s.Readable, h.examples)
	}
	return s
}

// toolLimits bound one run of the tool for an operation. Output holds a file of the
// transfer cap with its JSON escapes, Memory the same a few times over.
var toolLimits = confine.Limits{
	Wall: broker.DefaultDeadline, CPU: 10 * time.Second, Memory: 512 << 20, FileSize: 64 << 20, Files: 128,
	Processes: 128, Output: 16 << 20, Scratch: 64 << 20,
}
