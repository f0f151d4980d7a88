package scene

import (
	"os/signal"

	"golang.org/x/sys/unix"
)

// limitFiles makes the disk seem full: no file grows beyond so many bytes.
func limitFiles(size uint64) error {
	signal.Ignore(unix.SIGXFSZ) // so that a write fails and the process goes on
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	limit.Cur = size
	return unix.Setrlimit(unix.RLIMIT_FSIZE, &limit)
}

// makeRoom gives the disk its room back and says at which call it was full.
func (p *play) makeRoom(task string, why error) {
	var limit unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit)
	if err == nil {
		limit.Cur = limit.Max
		err = unix.Setrlimit(unix.RLIMIT_FSIZE, &limit)
	}
	if err != nil {
		panic("scene: a limit of one's own does not go: " + err.Error())
	}
	p.say(Line{Say: "full", Task: task, Detail: why.Error()})
}
