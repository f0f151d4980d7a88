package tools

import (
	"testing"

	"world/confine"
	"world/store"
)

// crowd fills its limit on processes, says so and goes on printing for some time.
const crowd = `
import os, sys, time
open('made', 'w').write('x')
def fork():
    try:
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        return True
    except OSError:
        return False
while fork():
    pass
print('full')
until = time.time() + 0.6
while time.time() < until:
    sys.stderr.write('y' * 3000)
    sys.stderr.flush()
    fork()
    time.sleep(0.002)
`

// TestRunOfACrowd: a program that has filled its limit on processes, against which who
// watches it counts too, still has an answer that says how it ended.
func TestRunOfACrowd(t *testing.T) {
	d := newDesk(t, confine.Namespaces, "")
	d.put("crowd.py", crowd)
	for range 2 {
		r, a := d.runs(AilangRun, `{"path":"crowd.py"}`)
		if r.Status != store.StatusSucceeded || a.ExitCode == nil || *a.ExitCode != 0 || a.Limit != nil || a.Stdout != "full\n" || !a.Kept {
			t.Errorf("%s %s %.900s", r.Status, r.Detail, r.Output)
		}
	}
}
