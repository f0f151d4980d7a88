// Package fence runs the escapes that were reported in public against tools of this
// kind, each inside a real call: a real daemon in another process, a real MCP client,
// a real git worktree, programs that mean harm (reference/confinement.md; its row
// numbers are in the names of the tests). Each act names the guard that stops it, and
// has a control beside it that shows that it would get through without: the same
// request on a harmless name, or the same program outside the fence, as the same user.
// Package guards takes each guard out and holds that the acts which name it get through.
package fence

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"world/ci/guards"
	"world/ci/rig"
	"world/confine"
	"world/confine/confinetest"
)

// TestOrdinaryUser runs the acts again as an ordinary user's daemon would meet them.
func TestOrdinaryUser(t *testing.T) {
	confinetest.AsOrdinaryUser(t, "^Test(Row|Doors|Repository)", guards.Programs...)
}

const (
	episode = "ep"
	secret  = "the operator's secret"
	canary  = "untouched"
)

// desk is a served world with one episode, and what its programs must not reach.
type desk struct {
	t        *testing.T
	world    *rig.World
	agent    *rig.Agent
	worktree string
	owner    *syscall.SysProcAttr // makes a process one of the episode's user

	credential string

	outside string // a directory that anybody may write, with a file "canary"
	evil    string // likewise, a directory beside the worktree whose name begins as the worktree's, with a file "secret"
}

func newDesk(t *testing.T, change ...func(*rig.World)) *desk {
	t.Helper()
	return newDeskIn(t, confinetest.Dir(t), change...)
}

// newDeskIn is newDesk in a folder that programs' users can walk to.
func newDeskIn(t *testing.T, base string, change ...func(*rig.World)) *desk {
	t.Helper()
	d := &desk{t: t}
	var err error
	if d.world, err = rig.New(binaries(t), base); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.world.Close)
	for _, c := range change {
		c(d.world)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := d.world.Serve(ctx); err != nil {
		t.Fatal(err)
	}
	d.credential, err = d.world.Mint(ctx, "new", episode, "--repo", d.world.Repository, "--budget", "1000",
		"--db", d.world.DB(), "--state-dir", d.world.State(), "--workspace-root", d.world.Workspaces())
	if err != nil {
		t.Fatal(err)
	}
	d.connect(ctx)
	d.worktree = d.world.Worktree(episode)
	d.outside, d.evil = filepath.Join(base, "outside"), d.worktree+"-evil"
	uid := ownerOf(t, d.worktree)
	if os.Geteuid() == 0 {
		d.owner = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	}
	d.put("sub/", "")
	d.put("sub/inner.txt", "inner")
	d.restore()
	return d
}

// restore makes what nothing may touch as it was before any act.
func (d *desk) restore() {
	d.t.Helper()
	for _, path := range []string{d.outside, d.evil, d.worktree + "/.github", d.worktree + "/nested"} {
		d.must(os.RemoveAll(path))
	}
	for _, name := range unmade {
		d.must(os.RemoveAll(filepath.Join(d.worktree, name)))
	}
	d.must(os.Mkdir(d.evil, 0o777), os.Chmod(d.evil, 0o777), os.WriteFile(d.evil+"/secret", []byte(secret), 0o644))
	d.must(os.Mkdir(d.outside, 0o777), os.Chmod(d.outside, 0o777),
		os.WriteFile(d.outside+"/canary", []byte(canary), 0o666), os.Chmod(d.outside+"/canary", 0o666))
	for _, dir := range []string{".github", "nested", "nested/.git"} {
		d.put(dir+"/", "")
	}
	d.put(".github/w.yml", "on: push")
	d.put("nested/.git/config", "[core]")
}

// unmade are protected names of the worktree that are not there.
var unmade = []string{".gitmodules", ".gitattributes", ".claude", ".pi", ".ailang", ".GitHub", "sub/.GIT", "sub/.github", "sub/.gitattribute\u017f", "beside"}

// connect makes the agent a client of the daemon that serves now.
func (d *desk) connect(ctx context.Context) {
	d.t.Helper()
	agent, err := d.world.Daemon.Connect(ctx, d.credential)
	d.must(err)
	d.t.Cleanup(agent.Close)
	d.agent = agent
}

// binaries returns the folder of the programs under test.
func binaries(t *testing.T) string {
	t.Helper()
	dir := confinetest.Dir(t)
	for _, pkg := range guards.Programs {
		f, err := os.OpenFile(filepath.Join(dir, filepath.Base(pkg)), os.O_WRONLY|os.O_CREATE, 0o755)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.ReadFrom(confinetest.Image(t, pkg).Reader())
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func ownerOf(t *testing.T, path string) uint32 {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Uid
}

func (d *desk) must(errs ...error) {
	d.t.Helper()
	if err := errors.Join(errs...); err != nil {
		d.t.Fatal(err)
	}
}

// put makes a file of the worktree, or with a "/" at its end a directory, or with
// "-> " before its content a link, and gives it to the episode.
func (d *desk) put(name, content string) {
	d.t.Helper()
	path := filepath.Join(d.worktree, name)
	os.Remove(path) // one of an act before
	if target, ok := strings.CutPrefix(content, "-> "); ok {
		d.must(os.Symlink(target, path))
	} else if strings.HasSuffix(name, "/") {
		d.must(os.Mkdir(path, 0o755))
	} else {
		d.must(os.WriteFile(path, []byte(content), 0o644))
	}
	d.must(confine.HandOver(path, confine.User(ownerOf(d.t, d.worktree))))
}

// call calls a tool and returns the text of the answer.
func (d *desk) call(tool string, args map[string]any) string {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	answer, err := d.agent.Call(ctx, tool, "", args)
	if err != nil {
		return "error: " + err.Error()
	}
	return answer.Text
}

// fill puts the places of this desk into a program or a path.
func (d *desk) fill(text, outside string) string {
	return strings.NewReplacer("OUTSIDE", outside, "EVIL", d.evil, "STATE", d.world.State(), "WORKTREE", d.worktree).Replace(text)
}

// untouched says that an act got past its guard when anything outside, or any
// protected name, has changed, and then puts it right for the acts that follow.
func (d *desk) untouched(t *testing.T, guard guards.Guard) {
	t.Helper()
	var changed []string
	saw := func(format string, args ...any) { changed = append(changed, fmt.Sprintf(format, args...)) }
	for _, dir := range []string{d.outside, d.evil, d.worktree + "/.github", d.worktree + "/nested/.git"} {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			saw("%s holds %v, %v", filepath.Base(dir), entries, err)
		}
	}
	for path, want := range map[string]string{
		d.outside + "/canary": canary, d.evil + "/secret": secret,
		d.worktree + "/.github/w.yml": "on: push", d.worktree + "/nested/.git/config": "[core]",
	} {
		if b, err := os.ReadFile(path); err != nil || string(b) != want {
			saw("%s holds %q, %v", filepath.Base(path), b, err)
		}
	}
	for _, name := range unmade {
		if _, err := os.Lstat(filepath.Join(d.worktree, name)); err == nil {
			saw("%s is there", name)
		}
	}
	if len(changed) > 0 {
		guard.Harmed(t, strings.Join(changed, "; "))
		d.restore()
	}
}

// unfenced runs a program outside the fence, as the episode's user, in a copy of the
// worktree and with another folder to break out to.
func (d *desk) unfenced(t *testing.T, program string) string {
	t.Helper()
	dir := confinetest.Dir(t)
	outside := filepath.Join(dir, "outside")
	d.must(os.Mkdir(outside, 0o777), os.Chmod(outside, 0o777), os.WriteFile(outside+"/canary", []byte(canary), 0o666), os.Chmod(outside+"/canary", 0o666))
	copied := d.worktree + "-copy"
	if out, err := exec.Command("cp", "-a", d.worktree, copied).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	defer os.RemoveAll(copied)
	cmd := exec.Command("/usr/bin/python3", "-c", d.fill(attempting+program, outside))
	cmd.Dir, cmd.SysProcAttr, cmd.Env = copied, d.owner, []string{"PATH=/usr/bin:/bin"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("outside the fence: %v\n%s", err, out)
	}
	return string(out)
}
