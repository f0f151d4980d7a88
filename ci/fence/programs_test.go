package fence

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"world/ci/guards"
)

// attempting is before each program: what is attempted says whether it got through.
const attempting = `
import base64, ctypes, mmap, os, socket, subprocess, sys, threading
def attempt(what, act):
    try:
        print("THROUGH", what, act())
    except BaseException as e:
        print("stopped", what, type(e).__name__, e)
def put(path):
    with open(path, "w") as f: f.write("written")
def get(path):
    with open(path) as f: return f.read()
`

// breakout is a program that tries to get out.
type breakout struct {
	row           int
	name, program string
	guard         guards.Guard
}

// fenced runs programs that try to get out. Fenced, every attempt stops; outside the
// fence, as the same user, every one gets through.
func (d *desk) fenced(acts ...breakout) {
	service := d.service("unix", d.world.Dir+"/service")
	d.must(os.Chmod(service, 0o777))
	d.put("to-secret", "-> "+d.evil+"/secret")
	for _, act := range acts {
		d.t.Run(fmt.Sprintf("%d/%s", act.row, act.name), func(t *testing.T) {
			act.guard.Stops(t)
			act.program = strings.ReplaceAll(act.program, "SERVICE", service)
			d.put("act.py", d.fill(attempting+act.program, d.outside))
			answer := d.call("ailang-run", map[string]any{"path": "act.py"})
			switch {
			case strings.Contains(answer, secret):
				act.guard.Harmed(t, "told "+answer)
			case strings.Contains(answer, "THROUGH"):
				act.guard.LetThrough(t, answer)
			case !strings.Contains(answer, "stopped"):
				t.Errorf("control: nothing was attempted: %s", answer)
			}
			d.untouched(t, act.guard)
			if said := d.unfenced(t, act.program); !strings.Contains(said, "THROUGH") || strings.Contains(said, "stopped") {
				t.Errorf("control: outside the fence: %s", said)
			}
		})
	}
}

// reachService connects to a service's socket.
const reachService = `
def reach():
    s = socket.socket(socket.AF_UNIX)
    s.connect("SERVICE")
attempt("socket", reach)`

func TestRowsOfPrograms(t *testing.T) {
	t.Parallel()
	newDesk(t).fenced([]breakout{
		{1, "read through a link", `attempt("read", lambda: get("to-secret"))`, guards.Around},
		{1, "make a link and read", `
os.symlink("EVIL/secret", "mine")
attempt("read", lambda: get("mine"))
os.remove("mine")`, guards.Around},
		{2, "write through a link to nothing", `
os.symlink("OUTSIDE/new", "new")
attempt("write", lambda: put("new"))
os.remove("new")`, guards.Around},
		{3, "a root that begins alike", `
attempt("read", lambda: get("../" + os.path.basename("EVIL") + "/secret"))
attempt("read", lambda: get(os.getcwd() + "/../" + os.path.basename("EVIL") + "/secret"))`, guards.Around},
		{10, "an obfuscated shell", `
command = base64.b64encode(b"printf written > 'OUTSIDE'/shell && cat 'EVIL'/secret").decode()
attempt("shell", lambda: subprocess.run(["sh", "-c", "eval \"$(echo " + command + " | base64 -d)\""], check=True, capture_output=True).stdout)`,
			guards.Around},
		{11, "a flag of its own", `
sys.argv.append("--dangerously-disable-sandbox")
os.environ["SANDBOX"] = "off"
attempt("again", lambda: subprocess.run([sys.executable, "-c", "open('OUTSIDE/again', 'w')", "--no-sandbox"], check=True, capture_output=True))`,
			guards.Around},
		{13, "a path that changes under the call", `
libc, path, go = ctypes.CDLL(None, use_errno=True), ctypes.create_string_buffer(4096), True
def flip():
    while go:
        path.value = b"sub/flip"
        path.value = b"OUTSIDE/flip"
thread = threading.Thread(target=flip); thread.start()
def race():
    for _ in range(4000):
        fd = libc.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
        if fd >= 0: os.close(fd)
        if os.path.exists("OUTSIDE/flip"): return "opened"
    raise OSError("never")
attempt("race", race)
go = False
thread.join()`, guards.Around},
		{14, "a service's socket", reachService, guards.AroundAndSockets},
		{16, "a hard link", `
attempt("link", lambda: os.link("EVIL/secret" if os.geteuid() == os.stat("EVIL").st_uid else "OUTSIDE/canary", "linked"))
if os.path.exists("linked"): os.remove("linked")`,
			guards.AroundAndLayer},
		{16, "descriptors", `
def inherited():
    found = []
    for fd in range(3, 64):
        try: found.append(os.readlink(f"/proc/self/fd/{fd}"))
        except OSError: pass
    found = [f for f in found if not f.startswith("/proc/")]
    if not found: raise OSError("none")
    return found
if os.path.exists("OUTSIDE"): os.dup2(os.open("OUTSIDE/canary", os.O_RDWR), 9)
attempt("descriptors", inherited)`, guards.Descriptors},
		{16, "another process's root", `
def climb():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for way in ("root", "cwd"):
            try: return get(f"/proc/{pid}/{way}" + "EVIL/secret")
            except OSError: pass
    raise OSError("none")
attempt("climb", climb)`, guards.Around},
		{16, "the first stage's root", `
first = "self" if os.path.exists("OUTSIDE") else "1"
threads = f"/proc/{first}/task/" # each sees the host in its own way
attempt("write", lambda: [put(threads + thread + "/root" + os.getcwd() + "/.github/w.yml") for thread in os.listdir(threads)])`, guards.Undumpable},
		{16, "a shared mapping", `
def map():
    with open("OUTSIDE/canary", "r+") as f:
        m = mmap.mmap(f.fileno(), 0); m[0:4] = b"over"; m.flush()
attempt("map", map)`, guards.Around},
		{17, "a write, whatever a probe says", `attempt("write", lambda: put("OUTSIDE/canary"))`, guards.Around},
	}...)
}

// TestRowsBeside is for worlds that do not lie below /tmp, of which every program has
// one of its own: what lies elsewhere must not be there either.
func TestRowsBeside(t *testing.T) {
	t.Parallel()
	base, err := os.MkdirTemp("/var/tmp", "world-fence-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	if err := os.Chmod(base, 0o711); err != nil {
		t.Fatal(err)
	}
	newDeskIn(t, base).fenced([]breakout{
		{1, "read through a link", `attempt("read", lambda: get("to-secret"))`, guards.Rest},
		{3, "a root that begins alike", `attempt("read", lambda: get("EVIL/secret"))`, guards.Rest},
		{14, "a service's socket", reachService, guards.RestAndSockets},
	}...)
}

// TestRowsOfChanges runs programs whose changes are judged when they have ended. One
// that touches a protected name is refused whole; the control changes the same way
// what it may.
func TestRowsOfChanges(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.put("alias", "-> .github")
	d.put("plain", "-> sub")
	for _, act := range []struct {
		row                         int
		name, hostile, says, lawful string
		guard                       guards.Guard
	}{
		{5, "through a link", `put("alias/w.yml")`, ".github/w.yml: matches fs_deny_write", `put("plain/w.yml")`, guards.Judge},
		{6, "rename in the same folder", `put("f"); os.rename("f", ".gitmodules")`, ".gitmodules: matches", `put("f"); os.rename("f", "g")`, guards.Judge},
		{6, "rename into a folder", `put("f"); os.rename("f", ".github/f")`, ".github/f: matches", `put("f"); os.rename("f", "sub/f")`, guards.Judge},
		{6, "rename a folder", `os.mkdir("f"); put("f/settings"); os.rename("f", ".claude")`, ".claude: matches", `os.mkdir("f"); put("f/settings"); os.rename("f", "h")`, guards.Judge},
		{6, "hard link", `os.link("sub/inner.txt", ".gitattributes")`, ".gitattributes: matches", `os.link("sub/inner.txt", "attributes")`, guards.Judge},
		{6, "delete a parent", `import shutil; shutil.rmtree("nested")`, "nested/.git: .git/ is read-only", `import shutil; shutil.rmtree("h")`, guards.JudgeBelow},
		{9, "in any case", `os.mkdir("sub/.GIT"); put("sub/.GIT/config")`, "sub/.GIT: .git/ is read-only", `os.mkdir("sub/git"); put("sub/git/config")`, guards.Fold},
		{10, "an obfuscated shell", `subprocess.run("p=.g$(printf it)hub; echo x > $p/$(echo eC55bWw= | base64 -d)", shell=True)`, ".github/x.yml: matches",
			`subprocess.run("p=s$(printf u)b; echo x > $p/$(echo eC55bWw= | base64 -d)", shell=True)`, guards.Judge},
		{16, "a shared mapping", `f = open("nested/.git/config", "r+"); m = mmap.mmap(f.fileno(), 0); m[0:2] = b"!!"; m.flush()`, "nested/.git/config: .git/ is read-only",
			`f = open("sub/inner.txt", "r+"); m = mmap.mmap(f.fileno(), 0); m[0:2] = b"!!"; m.flush()`, guards.Judge},
		{2, "a link that leads out", `os.symlink("OUTSIDE/new", "out")`, "out: is a link that leads out", `os.symlink("sub/new", "in")`, guards.JudgeLinks},
		{16, "a link up after down", `os.symlink(".", "sub/top"); os.symlink("sub/top/../../etc", "etc")`, "is a link that leads out", `os.symlink("..", "sub/up")`, guards.JudgeLinks},
	} {
		t.Run(fmt.Sprintf("%d/%s", act.row, act.name), func(t *testing.T) {
			act.guard.Stops(t)
			d.put("act.py", d.fill(attempting+act.hostile+`; put("beside")`, d.outside))
			answer := d.call("ailang-run", map[string]any{"path": "act.py"})
			if !strings.Contains(answer, act.says) {
				act.guard.LetThrough(t, answer)
			}
			d.untouched(t, act.guard)
			d.put("act.py", attempting+act.lawful+`; put("beside")`)
			if answer := d.call("ailang-run", map[string]any{"path": "act.py"}); !strings.Contains(answer, `"kept":true`) {
				t.Errorf("control: %s", answer)
			}
			d.must(os.Remove(d.worktree + "/beside"))
		})
	}
}
