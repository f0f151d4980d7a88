// Command attack is a first stage whose verbs try to get out. Each prints what
// happened: "ok" and what it got, or the error.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"world/confine"
)

func main() { os.Exit(confine.Main(os.Args, confine.Stage{Verbs: verbs(), Apply: apply})) }

func verbs() map[string]confine.Verb {
	return map[string]confine.Verb{
		"look":    verb(look),
		"echo":    echo,
		"read":    verb(func(a []string) (string, error) { b, err := os.ReadFile(a[0]); return string(b), err }),
		"list":    verb(list),
		"write":   verb(write),
		"mkdir":   verb(func(a []string) (string, error) { return "", os.Mkdir(a[0], 0o755) }),
		"remove":  verb(func(a []string) (string, error) { return "", os.Remove(a[0]) }),
		"connect": verb(connect),
		"fork":    verb(fork),
		"unshare": verb(func([]string) (string, error) { return "", unix.Unshare(unix.CLONE_NEWUSER) }),
		"ptrace":  verb(func(a []string) (string, error) { return "", unix.PtraceAttach(number(a[0])) }),
		"ring":    verb(ring),
		"files":   verb(files),
		"grow":    verb(grow),
		"forge":   verb(forge),
		"eat":     verb(eat),
		"share":   verb(share),
		"memfd":   verb(func([]string) (string, error) { _, err := unix.MemfdCreate("m", 0); return "", err }),
		"segment": verb(func([]string) (string, error) {
			_, err := unix.SysvShmGet(unix.IPC_PRIVATE, 1<<20, 0o600)
			return "", err
		}),
		"spin": verb(func(a []string) (string, error) {
			if len(a) > 0 { // deaf to its clock: nothing else gets a turn
				runtime.GOMAXPROCS(1)
				runtime.LockOSThread()
				all := unix.Sigset_t{Val: [16]uint64{^uint64(0)}}
				if err := unix.PthreadSigmask(unix.SIG_BLOCK, &all, nil); err != nil {
					return "", err
				}
			}
			for {
			}
		}),
		"slack": verb(func([]string) (string, error) {
			n, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
			return strconv.Itoa(n), err
		}),
		"sleep":  verb(func([]string) (string, error) { time.Sleep(time.Hour); return "", nil }),
		"flood":  flood,
		"exit":   func(a []string, _ io.Reader, _, _ io.Writer) int { return number(a[0]) },
		"crash":  verb(func([]string) (string, error) { panic("crash") }),
		"tick":   verb(tick),
		"hoard":  verb(hoard),
		"dig":    verb(dig),
		"tables": verb(tables),
		"strew":  verb(strew),
		"pair":   verb(pair),
		"shred":  verb(shred),
		"fasten": verb(fasten),
		"meddle": verb(meddle),
		"occupy": verb(occupy),
		"queue":  verb(queue),
		"lie":    verb(lie),
		"link":   verb(func(a []string) (string, error) { return os.Readlink(a[0]) }),
		"litter": verb(litter),
		"kill":   verb(func([]string) (string, error) { return "", unix.Kill(os.Getppid(), unix.SIGKILL) }),
		"daemon": verb(daemon),
		"haunt":  haunt,
	}
}

func verb(f func([]string) (string, error)) confine.Verb {
	return func(args []string, _ io.Reader, stdout, _ io.Writer) int {
		got, err := f(args)
		if err != nil {
			fmt.Fprint(stdout, err)
			return 1
		}
		fmt.Fprint(stdout, "ok "+got)
		return 0
	}
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

// apply stands for the judge of layers: it refuses one that holds a file "bad", and
// thinks about one that holds "thinks", until its time is over about "late", beyond
// that about "deaf", and dies over "dies". It takes its time to apply "slow", fails
// over "broken", and otherwise copies the regular files of the layer's top.
func apply(ctx context.Context, t confine.TakeOver) ([]byte, error) {
	entries, err := fs.ReadDir(t.Layer.FS(), ".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		switch e.Name() {
		case "bad":
			return nil, fmt.Errorf("bad under %s", t.Law)
		case "thinks":
			time.Sleep(700 * time.Millisecond)
		case "late":
			err := t.Worktree.WriteFile("prepared", nil, 0o600)
			<-ctx.Done()
			if err = errors.Join(err, t.Worktree.Remove("prepared")); err != nil {
				return nil, err
			}
		case "deaf":
			time.Sleep(time.Hour)
		case "dies":
			os.Exit(9)
		}
	}
	if !t.Begin() {
		return nil, ctx.Err()
	}
	report := ""
	for _, e := range entries {
		if e.Name() == "slow" {
			time.Sleep(300 * time.Millisecond)
		}
		b, err := t.Layer.ReadFile(e.Name())
		if err == nil {
			err = t.Worktree.WriteFile(e.Name(), b, 0o644)
		}
		if err == nil && e.Name() == "broken" {
			err = io.ErrShortWrite
		}
		if err != nil {
			return nil, err
		}
		report += e.Name() + " "
	}
	for _, e := range entries { // nobody writes any more
		was, err := t.Worktree.ReadFile(e.Name())
		if now, nowErr := t.Layer.ReadFile(e.Name()); err != nil || nowErr != nil || string(now) != string(was) {
			return nil, io.ErrNoProgress
		}
	}
	return []byte(report), nil
}
