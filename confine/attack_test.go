package confine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestForkManyBuriesItsDead: nothing of the attack is left to the first process of the
// machine, which in a container may bury nobody.
func TestForkManyBuriesItsDead(t *testing.T) {
	// What would be left to the first process is left to this one.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	defer unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	for bound, made := range map[uint64]bool{1 << 15: true, 1: false} {
		if got := forkMany(8, bound); got != made && os.Geteuid() != 0 { // no bound binds root
			t.Errorf("under a bound of %d processes it says %t", bound, got)
		}
		if left := dead(t); len(left) != 0 {
			t.Errorf("under a bound of %d processes it leaves %v", bound, left)
		}
	}
}

// dead lists the children of this process that wait to be buried.
func dead(t *testing.T) (pids []string) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // gone
		}
		_, after, _ := strings.Cut(string(stat), ") ")
		if strings.HasPrefix(after, fmt.Sprintf("Z %d ", os.Getpid())) {
			pids = append(pids, filepath.Base(filepath.Dir(path)))
		}
	}
	return pids
}
