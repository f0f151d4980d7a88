package confine

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// togetherEvery is how often the memory of all processes of a run is added up.
const togetherEvery = 20 * time.Millisecond

// locksEvery is how many times memory is added up until locks are counted.
const locksEvery = 5

// together ends a run of which one process holds more private memory than each may
// have, or all of them more than they may have together, whatever they have made of
// it, with what their sockets may hold and what the kernel keeps of their mappings; or
// too many locks. The kernel's own limit does not count what became read only after it
// was written, nor what is mapped writable in the place of a mere reservation, and the
// size of the private /tmp not what is kept for each file there. It looks from time to
// time, so what is filled between two looks comes on top.
func (o order) together(r *reporter) {
	if o.Level < Namespaces {
		return // only process 1 sees all of them, and nobody else
	}
	var kept mappings
	turn := 0
	for range time.Tick(togetherEvery) {
		most, all, processes := held()
		all += sockets()*perSocket + kept.look(processes)*perMapping
		turn++
		if most > o.Limits.Memory || turn%locksEvery == 0 && locks() > maxLocks || o.Limits.Together > 0 && all > o.Limits.Together {
			r.cut(MemoryBound)
		}
		if scratchFiles() > o.Limits.scratchFiles() {
			r.cut(ScratchBound)
		}
	}
}

// perSocket is what a socket may hold of what was sent through it and not received, in
// bytes: what the kernel gives it, and one message more. The filter lets nobody ask for more.
const perSocket = 2 * 212992

// sockets is how many there are in the network of a program, whoever holds them.
func sockets() (n int64) {
	text, err := os.ReadFile("/proc/net/sockstat")
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscanf(string(text), "sockets: used %d", &n); err != nil {
		return 0
	}
	return n
}

// scratchFiles is how many names the private /tmp holds.
func scratchFiles() int64 {
	var s unix.Statfs_t
	if err := unix.Statfs("/tmp", &s); err != nil {
		return 0
	}
	return int64(s.Files - s.Ffree)
}

// scratchFiles is how many names the private /tmp of a program may hold: one for each
// page of it, and some that lie there from the beginning.
func (l Limits) scratchFiles() int64 { return l.Scratch/4096 + 16 }

// counts are the lines of a process's status that are added up: memory, swapped out or
// not, and the kernel's tables of where it lies.
var counts = []string{"RssAnon:", "VmSwap:", "VmPTE:"}

// held is how many bytes of private memory the greatest of all processes but this one
// holds, and all of them, which are named by directories that tell of them. Pages that
// several of them share since a fork count for each. Anybody may read it of a process
// that nobody may trace.
func held() (most, all int64, processes []string) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		panic("confine: the pattern is none: " + err.Error())
	}
	for _, dir := range dirs {
		if dir == "/proc/1" {
			continue
		}
		one, at := heldBy(dir)
		most, all, processes = max(most, one), all+one, append(processes, at)
	}
	return most, all, processes
}

// heldBy is what one process holds, and the directory that tells of it: its own or, when
// its first thread has ended and takes no part in its memory any more, another thread's.
func heldBy(dir string) (bytes int64, at string) {
	if n, ok := counted(dir + "/status"); ok {
		return n, dir
	}
	threads, err := filepath.Glob(dir + "/task/[0-9]*")
	if err != nil {
		panic("confine: the pattern is none: " + err.Error())
	}
	for _, thread := range threads {
		if n, ok := counted(thread + "/status"); ok {
			return n, thread
		}
	}
	return 0, dir // it has ended, or is gone
}

// counted adds up what a status tells of memory; ok is false when it tells of none.
func counted(file string) (sum int64, ok bool) {
	status, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(status) {
		fields := bytes.Fields(line)
		if len(fields) == 3 && slices.Contains(counts, string(fields[0])) {
			kilobytes, _ := strconv.ParseInt(string(fields[1]), 10, 64) // the kernel's own
			sum, ok = sum+kilobytes<<10, true
		}
	}
	return sum, ok
}
