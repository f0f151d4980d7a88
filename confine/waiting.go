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
	r.spec.Limits.Wall, r.spec.Args = s.Limits.Wall, s.Args
	r.began = time.Now()
	line, err := start{r.spec.innerWall(), s.Args}.line()
	if err != nil {
		return err
	}
	// One that does not read could hold up who writes more than a pipe holds.
	if err := r.ask.SetWriteDeadline(r.began.Add(s.Limits.Wall)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(r.ask, "%s%s", beginWord, line); err != nil {
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
