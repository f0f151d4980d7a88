package tools

import (
	"os"
	"path/filepath"
	"strings"

	"world/confine"
	"world/fault"
)

// place makes the policy directory and refuses every arrangement in which an agent
// could write its own policy: state inside the workspace root, as the paths are
// written or where their links lead.
func (h *Handler) place(state, root string) error {
	const op = "tools: new handler"
	policies := filepath.Join(state, "policies")
	for _, path := range []string{state, root} {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path {
			return fault.New(op, fault.Invalid, "state directory and workspace root must be absolute, clean paths")
		}
	}
	if inside(root, state) || inside(root, policies) {
		return fault.New(op, fault.Invalid, "the state directory lies inside the workspace root")
	}
	if err := os.MkdirAll(policies, 0o700); err != nil {
		return fault.Wrap(op, fault.Unavailable, err, "the policy directory cannot be made")
	}
	if err := os.MkdirAll(root, 0o711); err != nil {
		return fault.Wrap(op, fault.Unavailable, err, "the workspace root cannot be made")
	}
	for real, path := range map[*string]string{&h.root: root, &h.state: state, &h.policies: policies} {
		var err error
		if *real, err = filepath.EvalSymlinks(path); err != nil {
			return fault.Wrap(op, fault.Unavailable, err, "state directory or workspace root is not there")
		}
	}
	if inside(h.root, h.state) || inside(h.root, h.policies) {
		return fault.New(op, fault.Invalid, "the state directory leads inside the workspace root")
	}
	if !confine.Reachable(filepath.Join(h.root, "any"), confine.UserOf("")) {
		return fault.New(op, fault.Unavailable,
			"programs run as users of their own, and the workspace root or a directory above it does not let them through: it needs mode o+x")
	}
	return nil
}

// inside reports whether path is dir or lies below it.
func inside(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
