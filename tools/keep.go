package tools

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

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

// policiesIn is where the policies lie below a state directory.
func policiesIn(state string) string { return filepath.Join(state, "policies") }

// policySuffix ends the name of a kept policy.
const policySuffix = ".toml"

// ForgetPolicies removes the policies that are kept below a state directory for an
// episode that has ended, those of its runs with it. There need not be any.
func ForgetPolicies(state string, episode store.EpisodeID) error {
	const op = "tools: forget policies"
	if _, err := store.ParseEpisodeID(string(episode)); err != nil {
		return err
	}
	kept, err := os.ReadDir(policiesIn(state))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(op, fault.Unavailable, err, "the policies cannot be listed")
	}
	for _, e := range kept {
		name, ok := strings.CutSuffix(e.Name(), policySuffix)
		if !ok || name != string(episode) && !strings.HasPrefix(name, string(episode)+runInfix) {
			continue
		}
		if err := os.Remove(filepath.Join(policiesIn(state), e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fault.Wrap(op, fault.Unavailable, err, "the policy %s cannot be removed", name)
		}
	}
	return nil
}

// keepPolicy renders a policy and keeps it under its name, as what a tool was told.
func (h *Handler) keepPolicy(name string, p policy.Policy) ([]byte, error) {
	rules, err := p.Render()
	if err != nil {
		return nil, err
	}
	if err := keep(filepath.Join(h.policies, name+policySuffix), rules); err != nil {
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
