package confine

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	"time"

	"world/fault"
)

// kind is a digest of all that is fixed about a run before its input comes.
type kind [sha256.Size]byte

// shelf holds the waiting processes of one kind, the oldest first.
type shelf struct {
	spec     Spec
	ready    []*run
	starting int
	depth    int       // how many should wait: one more each time that none was there in time
	used     time.Time // last
}

func (h *shelf) deepen() { h.depth = min(h.depth+1, maxDepth) }

const (
	maxDepth = 8               // processes of one kind that wait
	maxAge   = 5 * time.Minute // of a waiting process, and of a kind that nobody asks for

	breath = 8 * time.Millisecond // from the end of a run to the start of a process for the next one
)

// kindOf digests a spec without what may differ between runs of a kind. A worktree
// is the directory that is there now, whatever its path named before, and what a
// program must not see are the directories that are there now.
func (j *Jail) kindOf(s Spec) (kind, error) {
	var fixed struct {
		Spec
		Law   []byte
		Hides [2][]string
	}
	s.Stdin, s.Limits.Wall = nil, 0
	if s.Overlay != nil {
		fixed.Law = s.Overlay.Law
	}
	if !s.verb() {
		s.Args = nil
		hides, err := j.hides(s, userOf(s.User))
		if err != nil {
			return kind{}, err
		}
		fixed.Hides = [2][]string{hides.dirs, hides.files}
	}
	fixed.Spec = s
	text, err := json.Marshal(fixed)
	if err != nil {
		return kind{}, fault.Wrap("confine: run", fault.Internal, err, "")
	}
	if s.Worktree != "" {
		info, err := os.Lstat(s.Worktree)
		if err != nil {
			return kind{}, invalid("a path of a run is not a real directory")
		}
		stat := info.Sys().(*syscall.Stat_t)
		text = fmt.Appendf(text, " %d %d", stat.Dev, stat.Ino)
	}
	return sha256.Sum256(text), nil
}
