package runner

import (
	"runtime"
	"sync"
)

// spare is how many threads this process may need beside those it has when the program
// begins: to wait for it, to hand on what it reads and prints, and to collect garbage.
const spare = 8

// keepThreads makes threads that the runtime keeps from then on. The program counts
// against the same limit on processes, and where it has filled that no thread can be
// made any more, at which Go's runtime gives up.
func keepThreads() {
	var made, all sync.WaitGroup
	made.Add(spare)
	for range spare {
		all.Go(func() {
			runtime.LockOSThread() // who waits with one of his own makes room for another
			defer runtime.UnlockOSThread()
			made.Done()
			made.Wait()
		})
	}
	all.Wait()
}
