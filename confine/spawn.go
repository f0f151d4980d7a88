package confine

import (
	"os/exec"
	"runtime"
	"sync"
)

// spawner starts children. "Die with your parent" binds a child to the OS thread
// that forked it, not to the process, so children are forked from one thread that
// is locked and never ends: it lives exactly as long as the process.
var spawner = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for start := range work {
			start()
		}
	}()
	return work
})

// start starts a prepared command on the spawner's thread.
func start(cmd *exec.Cmd) error {
	result := make(chan error, 1)
	spawner() <- func() { result <- cmd.Start() }
	return <-result
}
