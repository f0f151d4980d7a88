package fence

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"world/ci/guards"
)

// swapping makes a folder and a link that leads out change places, as fast as it can.
const swapping = `
import ctypes
libc = ctypes.CDLL(None)
while True: libc.renameat2(-100, b"swap", -100, b"link", 2)
`

// TestRowSwap is row 16: while another process of the episode's user swaps a folder
// for a link that leads out, reads and writes through it stay inside or are refused.
// Two guards: tools/policytool follows a path part by part and uses what it looked at,
// and nothing outside has a name where it runs.
func TestRowSwap(t *testing.T) {
	t.Parallel()
	guard := guards.Swaps
	guard.Stops(t)
	d := newDesk(t)
	d.must(os.WriteFile(d.outside+"/secret.txt", []byte(secret), 0o644))
	d.put("link", "-> "+d.outside)
	d.put("swap/", "")
	d.put("swap/secret.txt", "harmless")
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, "/usr/bin/python3", "-c", swapping)
	cmd.Dir, cmd.SysProcAttr = d.worktree, d.owner
	d.must(cmd.Start())
	defer cmd.Wait()
	defer cancel()
	through, refused := 0, 0
	for i := 0; i < 200 && (i < 24 || through == 0 || refused == 0); i++ {
		answer := d.call("ailang-read", map[string]any{"path": "swap/secret.txt"})
		written := d.call("ailang-write", map[string]any{"path": "swap/new", "content": "written"})
		if strings.Contains(answer, secret) {
			guard.Harmed(t, "told "+answer)
			return
		}
		for _, text := range []string{answer, written} {
			if strings.Contains(text, `"ok":true`) {
				through++
			} else {
				refused++
			}
		}
	}
	if _, err := os.Lstat(d.outside + "/new"); err == nil {
		guard.Harmed(t, "written through the swapped name")
	}
	if through == 0 || refused == 0 {
		t.Errorf("control: %d calls met the folder and %d the link: the swap proves nothing", through, refused)
	}
}
