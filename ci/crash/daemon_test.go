package crash

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"world/ci/crash/scene"
	"world/ci/rig"
	"world/fault"
	"world/fault/stop"
	"world/session"
	"world/store"
)

const daemonEpisode = "killed"

// TestDaemonKills kills the real daemon, under a real client and with the real
// tools in the jail, three times at each point. Each call adds its name to a file,
// so that an effect that ran twice would be seen.
func TestDaemonKills(t *testing.T) {
	build(t)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute+time.Duration(*kills)*time.Second)
	defer cancel()
	d := raiseDaemon(t, ctx)
	rounds := max(3, *kills/100)
	random := source("daemon")
	killed := 0
	for range rounds {
		for _, point := range stop.Points() {
			cut := d.live(t, ctx, fmt.Sprintf("%s@%d", point, 1+random.IntN(2)))
			if cut == nil {
				t.Fatalf("the daemon was not killed %s; -seed %d", point, *seed)
			}
			killed++
			d.gather(t)
			d.judge(func(ctx context.Context, s store.Store) { d.expect(ctx, s, point, cut) })
			if t.Failed() {
				t.Fatalf("killed %s; -seed %d", point, *seed)
			}
		}
	}
	if cut := d.live(t, ctx, ""); cut != nil {
		t.Fatalf("without a stop, %s was not answered", cut.Task)
	}
	d.gather(t)
	d.settled = true
	v := d.judge(nil)
	if want := rounds * 4; v.open != want { // four points lie between intent and outcome
		t.Errorf("%d intents without an outcome, want %d", v.open, want)
	}
	t.Logf("%d kills, %+v", killed, v)
	d.clean(t, ctx)
}

// daemonWorld is a world that generations of the real daemon serve.
type daemonWorld struct {
	*world
	server
	credential string
}

func raiseDaemon(t *testing.T, ctx context.Context) *daemonWorld {
	t.Helper()
	r := newServer(t, "").rig
	d := &daemonWorld{server: server{rig: r}, world: &world{t: t, where: r.DB(), marks: filepath.Join(r.Dir, "marks"), calls: map[string]*call{}}}
	daemon, err := r.Serve(ctx)
	ok(t, err)
	d.credential, err = r.Mint(ctx, "new", daemonEpisode, "--repo", r.Repository, "--budget", "1000",
		"--db", r.DB(), "--state-dir", r.State(), "--workspace-root", r.Workspaces())
	ok(t, err)
	ok(t, os.WriteFile(d.list(), []byte("end\n"), 0o666))
	ok(t, os.Chmod(d.list(), 0o666))
	_, err = daemon.Stop()
	ok(t, err)
	d.with("", func(ctx context.Context, s store.Store) {
		ok(t, session.Each(ctx, s, func(row store.Session) error {
			rec, err := session.Read(ctx, s, row)
			d.sessions = append(d.sessions, session.Live{Record: rec})
			return err
		}))
	})
	return d
}

// list is the file to which each call adds its name.
func (d *daemonWorld) list() string { return filepath.Join(d.rig.Worktree(daemonEpisode), "list.txt") }

// live serves with a stop, sends again what was not answered before, and then new
// calls until the daemon dies, or three of them. It returns the call that was cut.
func (d *daemonWorld) live(t *testing.T, ctx context.Context, at string) *call {
	t.Helper()
	d.rig.Env = []string{"WORLD_STOP=" + at}
	daemon, err := d.rig.Serve(ctx)
	ok(t, err)
	agent, err := daemon.Connect(ctx, d.credential)
	ok(t, err)
	defer agent.Close()
	todo := d.unanswered()
	for range 3 {
		d.made++
		c := scene.Call{Task: taskName(d.made)}
		d.know(c)
		todo = append(todo, c)
	}
	for _, c := range todo {
		known := d.calls[c.Task]
		known.sent = true
		answer, err := agent.Call(ctx, "ailang-edit", c.Task, map[string]any{
			"path": "list.txt", "old_text": "end", "new_text": c.Task + " end",
		})
		if err != nil {
			daemon.Kill() // it has ended itself; this waits for that
			return known
		}
		known.ends = append(known.ends, d.heard(t, c.Task, answer))
	}
	_, err = daemon.Stop()
	ok(t, err)
	return nil
}

// heard reads an answer as the victims of the matrix put it.
func (d *daemonWorld) heard(t *testing.T, task string, a rig.Answer) scene.Line {
	t.Helper()
	switch {
	case !a.IsError:
		return scene.Line{Say: "done", Task: task, Entry: a.Entry}
	case strings.Contains(a.Text, fault.Indeterminate.String()):
		return scene.Line{Say: "lost", Task: task}
	}
	t.Fatalf("%s: %s", task, a.Text)
	return scene.Line{}
}

// gather writes the marks that the effects left in the worktree.
func (d *daemonWorld) gather(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(d.list())
	ok(t, err)
	tasks := strings.Fields(string(text))
	if len(tasks) == 0 || tasks[len(tasks)-1] != "end" {
		t.Fatalf("the list is torn: %q", text)
	}
	var marks strings.Builder
	d.with("", func(ctx context.Context, s store.Store) {
		for _, task := range tasks[:len(tasks)-1] {
			intent, err := s.IntentOf(ctx, d.calls[task].id())
			if err != nil {
				t.Errorf("%s has had its effect, and its intent: %v", task, err)
			}
			fmt.Fprintln(&marks, intent.Name())
		}
	})
	ok(t, os.WriteFile(d.marks, []byte(marks.String()), 0o600))
}
