// Package confine runs a program behind a fence and says how high the fence is.
//
// It promises, for every run at every level: an environment built from nothing,
// no descriptor beyond the program's own pipes, bounds on memory, processor time,
// file size, descriptors, output and wall time, an unprivileged user when the
// caller is root, and a program that is dead when Run returns or the calling
// process dies. At level namespaces that holds for the whole process tree, but that a
// run there which ended by itself is answered when its first stage says so: everything
// that the program started is dead then, the stage itself is killed, and is dead before
// another run on the worktree begins, for what is left to wait for is the kernel. It
// promises there besides that nothing outside the worktree can be written; that nothing
// has a name inside but the worktree, what the caller shows and the directories of the
// system's own programs, and of those not what is for this process's user alone, as it
// was found at most a minute or so before; and that there is no network (verbs that may
// not make a socket share one that leads nowhere, when root runs them); verbs of the
// first stage itself see nothing of the system at all. At level landlock it promises the same for those
// verbs, which cannot start processes; other programs may read the system's libraries
// there, and leave a process behind that has put itself into a session of its own. At
// level process there is no fence around files or network.
//
// A program can run over a private layer, which is applied to the worktree whole or
// not at all, and only when the program ended by itself; see Overlay. A run can begin
// behind a fence that waited for its input and serves no other; see Spec.Warm.
//
// A run that asks for a level above the one reached is refused with kind
// Unavailable; nothing falls back silently. The level is not what a version says
// but what an attack at start could not do: see Jail.Reach.
//
// The bound on memory is one on what each process holds of private, writable memory
// (RLIMIT_DATA), and for verbs on address space. From level landlock on there is no other
// memory beside it than files: no shared mapping without a file, no memory file, no
// System V segment or queue. The kernel's limit does not count what a process has made
// read only after writing it, nor what is mapped in the place of a reservation; at level
// namespaces the first stage looks 50 times a second what each process of a program and
// all of them hold, however they came by it (see Limits.Together), and below it a program
// can pass the bound that way. The kernel's tables of memory count with it, and what
// sockets may hold as if they held it; its buffers in pipes do not, which it bounds itself
// for each user. What is inside begins as the first that the kernel kills when memory runs
// out. It does not promise to hide the processor's side channels.
//
// Source: DESIGN decisions D14, D23, D24, D26 and D27; reference/confinement.md.
package confine
