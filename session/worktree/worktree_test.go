package worktree_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"world/confine"
	"world/fault"
	"world/session/worktree"
)

// root returns a workspace root. It is made outside t.TempDir's own cleanup of
// read bits, like an operator's folder.
func root(t *testing.T) worktree.Root { return worktree.Root(t.TempDir()) }

func TestAHostileRepositoryExecutesNothing(t *testing.T) {
	control := newHostile(t)
	git(t, control.dir, "worktree", "add", "-q", "-b", "plain", filepath.Join(t.TempDir(), "plain"))
	for _, way := range ways {
		if !control.ran(t)[way] {
			t.Errorf("under plain git %s did not run: the test shows nothing about it", way)
		}
	}

	h := newHostile(t)
	r := root(t)
	w, err := r.Add(t.Context(), worktree.Request{Repository: h.dir, Episode: "ep"})
	if err != nil {
		t.Fatal(err)
	}
	if ran := h.ran(t); len(ran) != 0 {
		t.Errorf("adding ran %v", ran)
	}
	for name, want := range map[string]string{"note.txt": "hello\n", "note.late": "late\n", "note.info": "info\n"} {
		if got, err := os.ReadFile(filepath.Join(w.Path, name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
	if err := w.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if ran := h.ran(t); len(ran) != 0 {
		t.Errorf("removing ran %v", ran)
	}
}

// A promisor remote makes git fetch what is missing, by a command that the
// repository names.
func TestAMissingObjectIsNotFetched(t *testing.T) {
	for _, object := range []string{"HEAD", "HEAD^{tree}", "HEAD:note.txt"} {
		t.Run(object, func(t *testing.T) {
			promise := func(t *testing.T) hostile {
				h := hostile{dir: newRepository(t), markers: t.TempDir()}
				id := git(t, h.dir, "rev-parse", object)
				if err := os.Remove(filepath.Join(h.dir, ".git/objects", id[:2], id[2:])); err != nil {
					t.Fatal(err)
				}
				git(t, h.dir, "config", "core.repositoryformatversion", "1")
				git(t, h.dir, "config", "extensions.partialClone", "origin")
				git(t, h.dir, "config", "remote.origin.promisor", "true")
				git(t, h.dir, "config", "remote.origin.url", h.dir)
				git(t, h.dir, "config", "remote.origin.uploadpack", h.touch("fetch")+"; git-upload-pack")
				return h
			}
			control := promise(t)
			if out := try(control.dir, "worktree", "add", "-q", filepath.Join(t.TempDir(), "plain")); !control.ran(t)["fetch"] {
				t.Fatalf("plain git did not fetch, so the test shows nothing: %s", out)
			}

			h := promise(t)
			r := root(t)
			if _, err := r.Add(t.Context(), worktree.Request{Repository: h.dir, Episode: "ep"}); !fault.Is(err, fault.Failed) && !fault.Is(err, fault.Invalid) {
				t.Errorf("got %v, want a failure", err)
			}
			if ran := h.ran(t); len(ran) != 0 {
				t.Errorf("adding ran %v", ran)
			}
			if entries, err := os.ReadDir(string(r)); err != nil || len(entries) != 0 {
				t.Errorf("the workspace root holds %v, %v", entries, err)
			}
		})
	}
}

// The operator's repository may belong to another user than the daemon's.
func TestARepositoryOfAnotherUser(t *testing.T) {
	repository, r := newRepository(t), root(t)
	if os.Geteuid() == 0 { // who alone can give it away
		err := filepath.WalkDir(repository, func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(path, 65534, 65534))
		})
		if err != nil {
			t.Fatal(err)
		}
		if out := try(repository, "status"); !strings.Contains(out, "dubious ownership") {
			t.Fatalf("plain git takes it, so the test shows nothing: %s", out)
		}
	}
	if _, err := r.Add(t.Context(), worktree.Request{Repository: repository, Episode: "ep"}); err != nil {
		t.Error(err)
	}
}

func TestAddMakesABranchOrNone(t *testing.T) {
	for _, c := range []struct {
		name     string
		q        worktree.Request
		wantHead string
	}{
		{"named as the episode", worktree.Request{}, "refs/heads/ep"},
		{"named", worktree.Request{Branch: "topic/one"}, "refs/heads/topic/one"},
		{"detached", worktree.Request{Detach: true}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			repository, r := newRepository(t), root(t)
			c.q.Repository, c.q.Episode = repository, "ep"
			w, err := r.Add(t.Context(), c.q)
			if err != nil {
				t.Fatal(err)
			}
			if w.Path != filepath.Join(string(r), "ep") || w.Commit != git(t, repository, "rev-parse", "HEAD") {
				t.Errorf("got %+v", w)
			}
			if got := try(repository, "-c", "safe.directory=*", "-C", w.Path, "symbolic-ref", "-q", "HEAD"); got != c.wantHead {
				t.Errorf("HEAD is %q, want %q", got, c.wantHead)
			}
			if got := try(repository, "-c", "safe.directory=*", "-C", w.Path, "status", "--porcelain"); got != "" {
				t.Errorf("the new worktree is not clean: %s", got)
			}
			if info, err := os.Stat(filepath.Join(w.Path, "sub/run.sh")); err != nil || info.Mode()&0o100 == 0 {
				t.Errorf("the executable bit is lost: %v", err)
			}
			if err := w.Remove(t.Context()); err != nil {
				t.Fatal(err)
			}
			gone(t, r, repository)
		})
	}
}

func TestTheEpisodesUserOwnsTheFilesButNotTheLink(t *testing.T) {
	repository, r := newRepository(t), root(t)
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(repository, "link")); err != nil {
		t.Fatal(err)
	}
	git(t, repository, "add", ".")
	git(t, repository, "commit", "-q", "-m", "a link out")
	w, err := r.Add(t.Context(), worktree.Request{Repository: repository, Episode: "ep"})
	if err != nil {
		t.Fatal(err)
	}
	other, err := root(t).Add(t.Context(), worktree.Request{Repository: newRepository(t), Episode: "ep"})
	if err != nil {
		t.Fatal(err)
	}
	user, self := uint32(confine.OfWorktree(w.Path)), uint32(os.Geteuid())
	if stranger := confine.OfWorktree(other.Path); self == 0 && (uint32(stranger) == user || user == 0) {
		t.Errorf("an episode of this name in another world is user %d, and this one's is %d", stranger, user)
	}
	for name, want := range map[string]uint32{
		w.Path: user, filepath.Join(w.Path, "sub"): user, filepath.Join(w.Path, "sub/run.sh"): user,
		filepath.Join(w.Path, "link"): user, filepath.Join(w.Path, ".git"): self, outside: self,
	} {
		info, err := os.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Sys().(*syscall.Stat_t).Uid; got != want {
			t.Errorf("%s belongs to %d, want %d", name, got, want)
		}
	}
	if info, err := os.Stat(w.Path); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the worktree is open to others: %v %v", info.Mode(), err)
	}
}

func TestRemoveRunsAfterTheCallerGaveUp(t *testing.T) {
	repository, r := newRepository(t), root(t)
	w, err := r.Add(t.Context(), worktree.Request{Repository: repository, Episode: "ep"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Remove(ctx); err != nil {
		t.Fatal(err)
	}
	gone(t, r, repository)
}

func TestRemoveKeepsABranchThatMoved(t *testing.T) {
	repository, r := newRepository(t), root(t)
	w, err := r.Add(t.Context(), worktree.Request{Repository: repository, Episode: "ep"})
	if err != nil {
		t.Fatal(err)
	}
	tree := git(t, repository, "rev-parse", "HEAD^{tree}")
	moved := git(t, repository, "commit-tree", "-p", "HEAD", "-m", "work", tree)
	git(t, repository, "update-ref", "refs/heads/ep", moved)
	if err := w.Remove(t.Context()); err == nil {
		t.Error("removing a branch with work on it was not refused")
	}
	if got := git(t, repository, "rev-parse", "refs/heads/ep"); got != moved {
		t.Errorf("the branch is at %s, want %s", got, moved)
	}
}

func TestCheckRefuses(t *testing.T) {
	repository, r := newRepository(t), root(t)
	if err := os.Mkdir(filepath.Join(string(r), "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	git(t, repository, "branch", "topic/one")
	good := worktree.Request{Repository: repository, Episode: "ep"}
	if err := r.Check(t.Context(), good); err != nil {
		t.Fatalf("a good request is refused: %v", err)
	}
	for _, c := range []struct {
		name   string
		change func(*worktree.Request)
		want   fault.Kind
	}{
		{"episode", func(q *worktree.Request) { q.Episode = "../out" }, fault.Invalid},
		{"both", func(q *worktree.Request) { q.Branch, q.Detach = "b", true }, fault.Invalid},
		{"option as branch", func(q *worktree.Request) { q.Branch = "--force" }, fault.Invalid},
		{"option in a branch", func(q *worktree.Request) { q.Branch = "a/-b" }, fault.Invalid},
		{"branch out of heads", func(q *worktree.Request) { q.Branch = "../main" }, fault.Invalid},
		{"revision expression", func(q *worktree.Request) { q.Branch = "a@{1}" }, fault.Invalid},
		{"empty part", func(q *worktree.Request) { q.Branch = "a//b" }, fault.Invalid},
		{"lock", func(q *worktree.Request) { q.Branch = "a.lock/b" }, fault.Invalid},
		{"long branch", func(q *worktree.Request) { q.Branch = strings.Repeat("a", 129) }, fault.Invalid},
		{"relative", func(q *worktree.Request) { q.Repository = "repo" }, fault.Invalid},
		{"unclean", func(q *worktree.Request) { q.Repository += "/../x" }, fault.Invalid},
		{"newline", func(q *worktree.Request) { q.Repository += "\n" }, fault.Invalid},
		{"missing", func(q *worktree.Request) { q.Repository += "-none" }, fault.NotFound},
		{"a file", func(q *worktree.Request) { q.Repository += "/note.txt" }, fault.NotFound},
		{"part of a repository", func(q *worktree.Request) { q.Repository += "/sub" }, fault.Invalid},
		{"branch exists", func(q *worktree.Request) { q.Branch = "main" }, fault.Conflict},
		{"branch below exists", func(q *worktree.Request) { q.Branch = "topic" }, fault.Conflict},
		{"episode's branch exists", func(q *worktree.Request) { q.Episode = "main" }, fault.Conflict},
		{"no repository", func(q *worktree.Request) { q.Repository = t.TempDir() }, fault.Invalid},
		{"no commit", func(q *worktree.Request) {
			q.Repository = t.TempDir()
			git(t, q.Repository, "init", "-q")
		}, fault.Invalid},
		{"taken", func(q *worktree.Request) { q.Episode = "taken" }, fault.Conflict},
	} {
		q := good
		c.change(&q)
		if err := r.Check(t.Context(), q); !fault.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
}

func TestAddRefusesAndLeavesNothing(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, dir string) worktree.Request{
		"no repository": func(t *testing.T, dir string) worktree.Request {
			// A folder inside a repository is not one: git must not climb.
			return worktree.Request{Repository: filepath.Join(dir, "sub")}
		},
		"branch exists": func(t *testing.T, dir string) worktree.Request {
			return worktree.Request{Repository: dir, Branch: "main"}
		},
		"no commit": func(t *testing.T, dir string) worktree.Request {
			empty := t.TempDir()
			git(t, empty, "init", "-q")
			return worktree.Request{Repository: empty}
		},
	} {
		t.Run(name, func(t *testing.T) {
			repository, r := newRepository(t), root(t)
			q := prepare(t, repository)
			q.Episode = "ep"
			if _, err := r.Add(t.Context(), q); !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.Conflict) {
				t.Errorf("got %v, want a refusal", err)
			}
			gone(t, r, repository)
		})
	}
}

// gone holds that neither the worktree nor its branch nor git's note of it is there.
func gone(t *testing.T, r worktree.Root, repository string) {
	t.Helper()
	if entries, err := os.ReadDir(string(r)); err != nil || len(entries) != 0 {
		t.Errorf("the workspace root holds %v, %v", entries, err)
	}
	if got := git(t, repository, "for-each-ref", "--format=%(refname)"); got != "refs/heads/main" {
		t.Errorf("the repository has refs %q", got)
	}
	if entries, _ := os.ReadDir(filepath.Join(repository, ".git", "worktrees")); len(entries) != 0 {
		t.Errorf("git still knows of %v", entries)
	}
}
