package confine

import (
	"fmt"
	"time"
)

// died reports whether a process died as it waited, and buries it.
func (r *run) died() bool {
	select {
	case <-r.ended:
		r.releaseChild()
		r.closeFiles()
		return true
	default:
		return false
	}
}

// isUp reports whether the first stage waits for its input.
func (r *run) isUp() bool {
	select {
	case <-r.up:
		return true
	default:
		return false
	}
}

// begin hands a waiting process its input.
func (r *run) begin(s Spec) error {
	r.spec.Limits.Wall = s.Limits.Wall
	r.began = time.Now()
	if _, err := fmt.Fprintf(r.ask, "%s%s\n", beginWord, r.spec.innerWall()); err != nil {
		return err
	}
	go func() {
		r.stdin.Write(s.Stdin) // one that died does not read it
		r.stdin.Close()
	}()
	return nil
}

// discard ends a process that waits.
func (r *run) discard() {
	r.kill()
	<-r.ended
	<-r.reported
	r.closeFiles()
}
