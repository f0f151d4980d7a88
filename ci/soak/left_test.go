package soak

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"world/ci/rig"
	"world/confine"
)

// sight is what a daemon holds at rest.
type sight struct{ descriptors, processes, mounts, policies int }

// look counts what the daemon holds.
func (f *field) look() sight {
	f.t.Helper()
	pid := fmt.Sprint(f.world.Daemon.Pid())
	descriptors, err := os.ReadDir("/proc/" + pid + "/fd")
	if err != nil {
		f.t.Fatal(err)
	}
	below, err := rig.Descendants(f.world.Daemon.Pid())
	if err != nil {
		f.t.Fatal(err)
	}
	mounts, err := os.ReadFile("/proc/" + pid + "/mountinfo")
	if err != nil {
		f.t.Fatal(err)
	}
	policies, err := os.ReadDir(filepath.Join(f.world.State(), "policies"))
	if err != nil {
		f.t.Fatal(err)
	}
	return sight{len(descriptors), len(below), f.ours(string(mounts)), len(policies)}
}

// ours counts the mounts that this world could have made: in its folders, or layers.
func (f *field) ours(mounts string) (n int) {
	for line := range strings.Lines(mounts) {
		if strings.Contains(line, f.world.Dir) || strings.Contains(line, " - overlay ") {
			n++
		}
	}
	return n
}

// slack is how many descriptors a daemon may have more at one moment at rest than at
// another: connections of clients that have just gone, those of the store's readers.
const slack = 12

// waiting is how many processes of a daemon may wait behind the fence for their next
// input: as many as it keeps, each under one of bubblewrap's.
const waiting = 2 * 16

// settled waits until the daemon holds no more than before, and than may wait.
func (f *field) settled(before sight) {
	f.t.Helper()
	var now sight
	if err := rig.Until("the daemon to come to rest", func() bool {
		now = f.look()
		return now.descriptors <= before.descriptors+slack && now.processes <= max(before.processes, waiting) && now.mounts == before.mounts && now.policies == before.policies
	}); err != nil {
		f.t.Errorf("%v: %+v before, %+v now", err, before, now)
	}
	f.t.Logf("at rest %+v, at the end %+v", before, now)
}

// gone holds that no process of an episode or of the daemon's outlives it, nor one
// whose user is that of a program.
func (f *field) gone(what string) {
	f.t.Helper()
	users := map[uint32]bool{}
	for i := range *episodes {
		users[uint32(confine.OfWorktree(filepath.Join(f.world.Workspaces(), episodeName(i))))] = true
	}
	var left []rig.Process
	if err := rig.Until(what+" to leave nobody", func() bool {
		all, err := rig.Processes()
		if err != nil {
			f.t.Fatal(err)
		}
		left = slices.DeleteFunc(all, func(p rig.Process) bool {
			ours := users[p.User] && os.Geteuid() == 0 || f.working(p)
			return !ours
		})
		return len(left) == 0
	}); err != nil {
		f.t.Errorf("%v: %+v", err, left)
	}
}

// working reports whether a process has this world's folder in its command line or is
// in its worktrees, and is not this one's child.
func (f *field) working(p rig.Process) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.Pid))
	return err == nil && p.Pid != os.Getpid() && strings.Contains(string(line), f.world.Workspaces())
}

// tidy holds that only what was meant to stay lies in the folders: no file under a
// temporary name, no directory of a check, nothing in the folder for temporary files.
func (f *field) tidy() {
	f.t.Helper()
	expected := map[string]bool{"greeting.txt": true, ".git": true}
	for name := range programs {
		expected[name] = true
	}
	for i := range *callers {
		expected[fmt.Sprintf("caller-%d.txt", i)] = true
	}
	worktrees, err := os.ReadDir(f.world.Workspaces())
	if err != nil || len(worktrees) != *episodes {
		f.t.Errorf("%d worktrees, %v", len(worktrees), err)
	}
	for _, worktree := range worktrees {
		names, err := os.ReadDir(filepath.Join(f.world.Workspaces(), worktree.Name()))
		if err != nil {
			f.t.Fatal(err)
		}
		for _, name := range names {
			// A write that was killed may leave its new content beside the file.
			if killed := strings.HasPrefix(name.Name(), ".world-tool-"); !expected[name.Name()] && !killed {
				f.t.Errorf("%s holds %s", worktree.Name(), name.Name())
			}
		}
	}
	for _, dir := range []string{filepath.Join(f.world.Dir, "tmp"), filepath.Join(f.world.State(), "policies"), filepath.Join(f.world.State(), "archive")} {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && path != dir && (filepath.Base(dir) == "tmp" || strings.HasPrefix(entry.Name(), "new-")) {
				f.t.Errorf("left behind: %s", path)
			}
			return err
		})
		if err != nil {
			f.t.Error(err)
		}
	}
}
