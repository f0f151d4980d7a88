package confine

import (
	"runtime"
	"sync"
)

// spareThreads is how many threads a process that watches a program may need beside
// those it has when that begins: to wait for it, to hand on what it prints, to look at
// what it takes, to collect garbage.
const spareThreads = 8

// KeepThreads makes threads that the runtime keeps from then on, for a process that
// watches a program. The program counts against the same limit on processes, and where
// it has filled that no thread can be made any more, at which Go's runtime gives up.
func KeepThreads() {
	var made, all sync.WaitGroup
	made.Add(spareThreads)
	for range spareThreads {
		all.Go(func() {
			runtime.LockOSThread() // who waits with one of his own makes room for another
			defer runtime.UnlockOSThread()
			made.Done()
			made.Wait()
		})
	}
	all.Wait()
}
