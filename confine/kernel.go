package confine

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
)

// maxLocks is how many locks on ranges of files all processes of a run may hold.
const maxLocks = 4096

// mostLocks is how many locks are looked at: the kernel lists those of open files too,
// whosever they are, and takes longer for each the more there are.
const mostLocks = 4 * maxLocks

// nobodys marks the lock of an open file, which a program cannot take (see filter).
var nobodys = []byte(" -1 ")

// locks is how many they hold, about, as far as that matters.
func locks() (n int64) {
	f, err := os.Open("/proc/locks")
	if err != nil {
		return 0 // a kernel that does not tell
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for looked := 0; looked < mostLocks && n <= maxLocks && lines.Scan(); looked++ {
		if !bytes.Contains(lines.Bytes(), nobodys) {
			n++
		}
	}
	return n
}

// perMapping is what the kernel keeps for a piece of address space, in bytes, with its
// place in the tree of them.
const perMapping = 256

// mappings is how many pieces of address space each process has or may soon have, as far
// as was looked.
type mappings struct {
	of   map[string]int64 // by directory in /proc
	turn int
}

// manyMappings is from how many on a process is taken to have all that the kernel gives
// it: to count them takes longer than to make them.
const manyMappings = 2000

// perLook is about how many are counted at a time, one process after the other in turn.
const perLook = 4 * manyMappings

// mostMappings is how many the kernel gives a process.
var mostMappings = sync.OnceValue(func() int64 {
	text, err := os.ReadFile("/proc/sys/vm/max_map_count")
	n, second := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if errors.Join(err, second) != nil {
		return 65530 // where nobody has changed it
	}
	return n
})

// look counts those of one process or several, and returns how many all of them were
// counted to have. One that lets nobody look is taken to have all that it may.
func (m *mappings) look(processes []string) (all int64) {
	counted := make(map[string]int64, len(processes))
	for _, p := range processes {
		counted[p] = m.of[p]
	}
	m.of = counted
	for left, looked := int64(perLook), 0; left > 0 && looked < len(processes); looked++ {
		m.turn++
		at := processes[m.turn%len(processes)]
		n, err := linesOf(at+"/maps", manyMappings)
		left -= n
		if errors.Is(err, fs.ErrPermission) || n >= manyMappings {
			n = mostMappings()
		}
		counted[at] = n
	}
	for _, n := range counted {
		all += n
	}
	return all
}

// linesOf counts the lines of a file of /proc, at most about so many of them.
func linesOf(path string, most int64) (n int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	piece := make([]byte, 1<<16)
	for n < most {
		read, err := f.Read(piece)
		n += int64(bytes.Count(piece[:read], []byte{'\n'}))
		if err != nil {
			break // the end, or the process's
		}
	}
	return n, nil
}
