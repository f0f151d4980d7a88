package tools

import (
	"errors"
	"os"
	"path/filepath"

	"world/fault"
	"world/store"
	"world/tools/policy"
)

// worktree returns the episode's worktree.
func (h *Handler) worktree(id store.EpisodeID) (string, error) {
	if _, err := store.ParseEpisodeID(string(id)); err != nil {
		return "", err
	}
	worktree := filepath.Join(h.root, string(id))
	if info, err := os.Lstat(worktree); err != nil || !info.IsDir() {
		return "", fault.Wrap("tools: episode", fault.Unavailable, err, "episode %s has no worktree here", id)
	}
	return worktree, nil
}

// keepPolicy renders a policy and keeps it under its name, as what a tool was told.
func (h *Handler) keepPolicy(name string, p policy.Policy) ([]byte, error) {
	rules, err := p.Render()
	if err != nil {
		return nil, err
	}
	if err := keep(filepath.Join(h.policies, name+".toml"), rules); err != nil {
		return nil, fault.Wrap("tools: policy", fault.Unavailable, err, "the policy %s cannot be written", name)
	}
	return rules, nil
}

// keep makes a file hold exactly these bytes, whole or not at all.
func keep(path string, content []byte) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == string(content) {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), "new-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	if err = errors.Join(err, f.Chmod(0o600), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
