package policytool

import (
	"io/fs"
	"os"
	"syscall"

	"world/tools/policy"
)

// Worktree is a worktree for programs that are run in this process: the same law of
// paths as the operations', and the same whole writes. Errors name no host path.
type Worktree struct{ tree *tree }

// OpenWorktree opens the worktree of a policy.
func OpenWorktree(p policy.Policy) (*Worktree, error) {
	t, err := openTree(p)
	if err != nil {
		return nil, plain(err)
	}
	return &Worktree{t}, nil
}

func (w *Worktree) Close() error { return w.tree.Close() }

// Read returns the text of a file of at most limit bytes, and no more than the
// policy's transfer limit.
func (w *Worktree) Read(path string, limit int64) (string, error) {
	p, err := w.tree.locateUnless(path, policy.Closed)
	if err != nil {
		return "", plain(err)
	}
	defer p.Close()
	text, err := p.read(min(limit, w.tree.policy.MaxTransfer))
	return text, plain(err)
}

// Write makes a file or replaces its whole content.
func (w *Worktree) Write(path, text string) error {
	return w.change(path, func(p place) error { return p.replace(text, w.tree.policy.MaxTransfer) })
}

// Remove removes a file or a link.
func (w *Worktree) Remove(path string) error {
	return w.change(path, func(p place) error {
		if p.info == nil {
			return syscall.ENOENT
		}
		return p.dir.Remove(p.name)
	})
}

// Mkdir makes a directory; the one above it must exist.
func (w *Worktree) Mkdir(path string) error {
	return w.change(path, func(p place) error { return p.dir.Mkdir(p.name, 0o755) })
}

// change acts on a name that is no directory and may be written.
func (w *Worktree) change(path string, act func(place) error) error {
	p, err := w.tree.locateUnless(path, w.tree.policy.Protection)
	if err != nil {
		return plain(err)
	}
	defer p.Close()
	return plain(act(p))
}

// List returns the names in a directory, those of directories with a slash at the end.
func (w *Worktree) List(path string) ([]string, error) {
	at, err := w.tree.directory(path)
	if err != nil {
		return nil, plain(err)
	}
	defer at.close()
	var names []string
	err = newVisitor(false, func(_ *os.Root, name, _ string, info fs.FileInfo) error {
		if info.IsDir() {
			name += "/"
		}
		names = append(names, name)
		return nil
	}).walk(at.here(), at.path(), 0)
	return names, plain(err)
}

// Exists reports whether a file or directory is there.
func (w *Worktree) Exists(path string) (bool, error) {
	at, err := w.tree.follow(path)
	if err != nil {
		if reason(err) == syscall.ENOENT.Error() {
			return false, nil
		}
		return false, plain(err)
	}
	defer at.close()
	return (!at.ended || at.last != nil) && policy.Closed(at.path()) == "", nil
}

// plain is an error without any path of the host.
func plain(err error) error {
	if err == nil {
		return nil
	}
	return bare(reason(err))
}

type bare string

func (b bare) Error() string { return string(b) }
