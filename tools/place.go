package tools

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"world/confine"
	"world/fault"
)

// place makes the policy directory and refuses every arrangement in which an agent
// could write its own policy: state inside the workspace root, as the paths are
// written or where their links lead.
func (h *Handler) place(state, root, examples string) error {
	const op = "tools: new handler"
	policies := policiesIn(state)
	given := []string{state, root}
	if examples != "" {
		given = append(given, examples)
	}
	for _, path := range given {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path {
			return fault.New(op, fault.Invalid, "state directory, workspace root and examples must be absolute, clean paths")
		}
	}
	h.state, h.root, h.policies = leadsTo(state), leadsTo(root), leadsTo(policies)
	if inside(root, state) || inside(h.root, h.state) || inside(h.root, h.policies) {
		return fault.New(op, fault.Invalid, "the state directory lies inside the workspace root, by name or by link")
	}
	if err := errors.Join(os.MkdirAll(h.policies, 0o700), os.MkdirAll(h.root, 0o711)); err != nil {
		return fault.Wrap(op, fault.Unavailable, err, "state directory or workspace root cannot be made")
	}
	if !confine.Reachable(filepath.Join(h.root, "any"), confine.UserOf("")) {
		return fault.New(op, fault.Unavailable,
			"programs run as users of their own, and the workspace root or a directory above it does not let them through: it needs mode o+x")
	}
	if examples == "" {
		return nil
	}
	h.examples = leadsTo(examples)
	if inside(root, examples) || inside(h.root, h.examples) {
		return fault.New(op, fault.Invalid, "the examples lie inside the workspace root, by name or by link")
	}
	if !h.jail.CanShow(h.examples, []string{h.state, h.root}, confine.UserOf("")) {
		return fault.New(op, fault.Unavailable,
			"the directory of examples is not there, holds what must stay hidden, or a directory above it does not let programs through: it needs mode o+x")
	}
	return nil
}

// leadsTo returns a path with the links on it followed, as far as it exists.
func leadsTo(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil || path == "/" {
		return real
	}
	return filepath.Join(leadsTo(filepath.Dir(path)), filepath.Base(path))
}

// inside reports whether path is dir or lies below it.
func inside(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
