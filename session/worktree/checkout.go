package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"world/fault"
	"world/infile"
)

// maxPointer is how many bytes of a file by which git points elsewhere are read.
const maxPointer = 4096

// pointer reads the .git file of a worktree: the folder in the repository that is
// about this worktree. A file that is none of git's, or somebody else's, is not followed.
func pointer(path string) (string, error) {
	const op = "worktree: pointer"
	name := filepath.Join(path, ".git")
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() > maxPointer || !ours(info) {
		return "", fault.Wrap(op, fault.Failed, err, "the worktree has no .git file of the operator")
	}
	text, err := infile.Read(name, maxPointer)
	if err != nil {
		return "", fault.Wrap(op, fault.Failed, err, "the worktree's .git file cannot be read")
	}
	admin, ok := strings.CutPrefix(strings.TrimSuffix(string(text), "\n"), "gitdir: ")
	if !ok || !plainPath(admin) || filepath.Base(filepath.Dir(admin)) != "worktrees" {
		return "", fault.New(op, fault.Failed, "the worktree's .git file leads to no repository")
	}
	return admin, nil
}

// checkout writes a commit's files into a folder with a git that sees the
// repository's objects and nothing else of it. common is the repository's own
// folder; the index is written to a file of that name.
func (g tool) checkout(ctx context.Context, common, commit, into, index string) error {
	private, err := os.MkdirTemp("", "world-git-")
	if err != nil {
		return fault.Wrap("worktree: fill", fault.Unavailable, err, "no temporary folder")
	}
	defer os.RemoveAll(private)
	sealed := tool{repository: g.repository, env: []string{
		"GIT_DIR=" + private,
		"GIT_WORK_TREE=" + into,
		"GIT_OBJECT_DIRECTORY=" + filepath.Join(common, "objects"),
		"GIT_INDEX_FILE=" + index,
	}}
	config := "[core]\n\trepositoryformatversion = 0\n"
	if len(commit) == 64 {
		config = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"
	}
	if err := errors.Join(
		os.Mkdir(filepath.Join(private, "refs"), 0o700),
		os.WriteFile(filepath.Join(private, "HEAD"), []byte(commit+"\n"), 0o600),
		os.WriteFile(filepath.Join(private, "config"), []byte(config), 0o600),
	); err != nil {
		return fault.Wrap("worktree: fill", fault.Unavailable, err, "the private git folder cannot be written")
	}
	_, err = sealed.run(ctx, "-C", into, "read-tree", "--reset", "-u", "--no-recurse-submodules", commit)
	return err
}
