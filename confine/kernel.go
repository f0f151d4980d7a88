package confine

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
)

// maxLocks is how many locks on ranges of files all processes of a run may hold. The
// kernel takes longer to list each the more there are, so that no more are counted.
const maxLocks = 4096

// locks is how many they hold, about, as far as that matters.
func locks() int64 {
	n, _ := linesOf("/proc/locks", maxLocks+1) // a kernel that does not tell
	return n
}

// perMapping is what the kernel keeps for a piece of address space, in bytes, with its
// place in the tree of them.
const perMapping = 256

// mappings is how many pieces of address space each process has, as far as they have
// been counted.
type mappings struct {
	of   map[string]int64 // by directory in /proc
	turn int
}

// mostMappings is how many a process may have where nobody has changed that. One that
// lets nobody look at them is taken to have as many.
const mostMappings = 65530

// perLook is about how many are counted at a time, which is dear, in turn.
const perLook = 4000

// look counts those of one process or several, and returns how many all of them were
// counted to have.
func (m *mappings) look(processes []string) (all int64) {
	counted := make(map[string]int64, len(processes))
	for _, p := range processes {
		counted[p] = m.of[p]
	}
	m.of = counted
	for left, looked := int64(perLook), 0; left > 0 && looked < len(processes); looked++ {
		m.turn++
		at := processes[m.turn%len(processes)]
		n, err := linesOf(at+"/maps", mostMappings)
		if errors.Is(err, fs.ErrPermission) {
			n = mostMappings
		}
		counted[at] = n
		left -= n
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
