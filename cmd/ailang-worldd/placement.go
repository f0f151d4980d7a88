package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"world/cmd/internal/statedir"
	"world/confine"
	"world/fault"
	"world/store"
	"world/store/engine"
	"world/tools/policy"
)

// layout is where a daemon keeps things, as absolute paths.
type layout struct {
	db         engine.Place
	state      string // socket, read token, archive, policies, cache
	workspaces string // worktrees, one an episode; "" when there are none
}

// newLayout makes paths absolute. An empty state directory is that of the store's
// file; with a database it stays empty, for verbs that need none.
func newLayout(db, state, workspaces string) (layout, error) {
	kept, err := engine.Parse(db)
	if err != nil {
		return layout{}, err
	}
	if state == "" && !kept.Shared() {
		state = filepath.Dir(kept.File())
	}
	l := layout{kept, state, workspaces}
	for _, path := range []*string{&l.state, &l.workspaces} {
		if *path == "" {
			continue
		}
		if strings.ContainsFunc(*path, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return l, fault.New("serve: config", fault.Invalid, "a path holds a control character")
		}
		abs, err := filepath.Abs(*path)
		if err != nil {
			return l, err
		}
		*path = abs
	}
	if l.workspaces == "" {
		return l, nil
	}
	// The policy of every episode holds its worktree's path.
	if _, err := policy.For(filepath.Join(l.workspaces, "episode")).Render(); err != nil {
		return l, fault.New("serve: config", fault.Invalid, "--workspace-root must be a path of printable characters without quotes or backslashes")
	}
	return l, nil
}

// place is a path by its name for error texts.
type place struct{ what, path string }

// kept lists what an agent must never write, the outer before the inner.
func (l layout) kept() []place {
	kept := []place{
		{"the state directory", l.state}, {"the archive", l.archive()}, {"the policies", l.policies()},
		{"the cache", filepath.Join(l.state, "cache")},
	}
	if file := l.db.File(); file != "" {
		kept = append([]place{{"the store's directory", filepath.Dir(file)}, {"the store", file}}, kept...)
	}
	return kept
}

// folder is the directory of the store's file, "" when a database keeps it.
func (l layout) folder() string {
	if l.db.Shared() {
		return ""
	}
	return filepath.Dir(l.db.File())
}

// home is the name of the daemon whose state directory this is. A worktree is
// made for that daemon and no other.
func (l layout) home() (store.HomeID, error) {
	if l.state == "" {
		return "", fault.New("cli: home", fault.Invalid, "--state-dir is required with a database: the worktree is for the daemon of that directory")
	}
	return statedir.Name(l.state)
}

func (l layout) archive() string  { return filepath.Join(l.state, "archive") }
func (l layout) policies() string { return filepath.Join(l.state, "policies") }

// check refuses a layout in which an agent's worktree could hold the daemon's own
// files: nothing that is kept lies at or below the workspace root, neither as the
// paths are written nor as links lead.
func (l layout) check() error {
	if l.workspaces == "" {
		return nil
	}
	roots, err := spellings(l.workspaces)
	if err != nil {
		return err
	}
	for _, kept := range l.kept() {
		paths, err := spellings(kept.path)
		if err != nil {
			return err
		}
		for _, root := range roots {
			for _, p := range paths {
				if below(root, p) {
					return fault.New("serve: placement", fault.Denied, "%s must not lie in the workspace root", kept.what)
				}
			}
		}
	}
	return nil
}

// spellings returns a path as it is written and as links lead.
func spellings(path string) ([]string, error) {
	real, err := resolve(path)
	return []string{path, real}, err
}

// resolve follows links as far as the path exists; what is missing stays as it
// is. A link to nothing is refused, because nobody knows what it will be.
func resolve(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if _, err := os.Lstat(path); err == nil {
		return "", fault.New("serve: placement", fault.Denied, "%s is a link to nothing", filepath.Base(path))
	}
	parent, err := resolve(filepath.Dir(path))
	return filepath.Join(parent, filepath.Base(path)), err
}

// below reports whether path is root or lies under it.
func below(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// make creates the directories that are missing, for this user alone, and
// refuses those in which another could put files. It begins with the workspace
// root, so that nothing else is made when programs could not reach that.
func (l layout) make() error {
	if l.workspaces != "" {
		if err := makeWorkspaces(l.workspaces); err != nil {
			return err
		}
	}
	for _, dir := range []place{
		{"the store's directory", l.folder()}, {"the state directory", l.state}, {"the archive", l.archive()}, {"the policies", l.policies()},
	} {
		if dir.path == "" {
			continue
		}
		if err := os.MkdirAll(dir.path, 0o700); err != nil {
			return fmt.Errorf("%s cannot be made: %w", dir.what, err)
		}
		if err := dir.ours(); err != nil {
			return err
		}
	}
	return nil
}

// ours refuses a directory in which another user could put files.
func (p place) ours() error {
	info, err := os.Stat(p.path)
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	if info.Mode().Perm()&0o022 != 0 || owner != uint32(os.Geteuid()) {
		return fault.New("serve: placement", fault.Denied, "%s must belong to this user, and no other may write it", p.what)
	}
	return nil
}

// makeWorkspaces makes the workspace root within a directory that is there: a path
// that is mistyped higher up is no wish. It lets others through, whatever the mask
// of the process, but not list it: tools run as users of their own.
func makeWorkspaces(path string) (err error) {
	const op = "serve: placement"
	root := place{"the workspace root", path}
	err = os.Mkdir(path, 0o700)
	switch {
	case err == nil:
		defer func() {
			if err != nil {
				os.Remove(path)
			}
		}()
		if err := os.Chmod(path, 0o711); err != nil {
			return fault.Wrap(op, fault.Unavailable, err, "%s cannot be made", root.what)
		}
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(op, fault.NotFound, "the workspace root %s is not there, and %s, where it would be made, is not either",
			quote(path), quote(filepath.Dir(path)))
	case !errors.Is(err, fs.ErrExist):
		return fault.Wrap(op, fault.Unavailable, err, "the workspace root %s cannot be made", quote(path))
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return fault.Wrap(op, fault.Invalid, err, "the workspace root %s is not a directory", quote(path))
	}
	if err := root.ours(); err != nil {
		return err
	}
	if !confine.Reachable(filepath.Join(path, "any"), confine.UserOf("")) {
		return fault.New(op, fault.Unavailable,
			"programs run as users of their own, and the workspace root %s or a directory above it does not let them through: it needs mode o+x", quote(path))
	}
	return nil
}
