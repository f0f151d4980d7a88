package postgres_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"world/fault"
	"world/store"
	"world/store/postgres"
	"world/store/postgres/pgtest"
)

// childURL makes the test binary another process of the world at this URL.
const childURL = "WORLD_POSTGRES_CHILD"

// child opens an intent, says so, waits to be told, and commits.
func child(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := postgres.Open(ctx, url, postgres.Options{Owner: "child", Lease: time.Second, Handler: 500 * time.Millisecond})
	if err != nil {
		return err
	}
	w := see(nil, s)
	lease, err := w.Lease(ctx, episode)
	if err != nil {
		return err
	}
	in := w.intention("of-the-child", lease)
	intent, err := w.Intend(ctx, in)
	if err != nil {
		return err
	}
	fmt.Println("opened")
	bufio.NewReader(os.Stdin).ReadString('\n')
	_, err = w.Commit(ctx, w.finish(in, intent))
	fmt.Println("committed:", fault.KindOf(err), err == nil)
	_, err = w.Intend(ctx, w.intention("of-the-child-again", lease))
	fmt.Println("intended:", fault.KindOf(err), err == nil)
	return nil
}

type process struct {
	*exec.Cmd
	t   testing.TB
	in  *os.File
	out *bufio.Reader
}

func startChild(t testing.TB, url string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childURL+"="+url)
	cmd.Stderr = os.Stderr
	read, write, err := os.Pipe()
	ok(t, err)
	cmd.Stdin = read
	out, err := cmd.StdoutPipe()
	ok(t, err)
	ok(t, cmd.Start())
	read.Close()
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait(); write.Close() })
	return &process{cmd, t, write, bufio.NewReader(out)}
}

func (p *process) says() string {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatalf("the other process ended: %v", err)
	}
	return strings.TrimSpace(line)
}

// TestPausedHolder stops a process that holds a lease past the lease's end: another
// takes over no sooner than the handler's deadline, and the first, waking up,
// writes nothing.
func TestPausedHolder(t *testing.T) {
	url := pgtest.Shared(t).Fresh(t)
	w := begun(t, open(t, url, postgres.Options{}))
	p := startChild(t, url)
	equal(t, "child", p.says(), "opened")
	_, err := w.Lease(w.ctx, episode)
	wantKind(t, "lease of a live process", err, fault.InFlight)
	if !strings.Contains(fault.Public(err), "child") {
		t.Fatalf("the refusal does not name the holder: %v", err)
	}
	lost, err := w.Indeterminate(w.ctx, 10)
	ok(t, err)
	equal(t, "indeterminate while it runs", len(lost), 0)

	ok(t, p.Process.Signal(syscall.SIGSTOP))
	writer := func() string {
		return query[string](t, url, "SELECT value FROM world.meta WHERE key = 'writer child'")
	}
	until(t, "the lease ends", func() bool {
		lost, err = w.Indeterminate(w.ctx, 10)
		ok(t, err)
		return len(lost) == 1
	})
	ended, before := time.Now(), writer()
	until(t, "takeover", func() bool {
		_, err := w.Lease(w.ctx, episode)
		if err != nil {
			wantKind(t, "lease before the deadline", err, fault.InFlight)
		}
		return err == nil
	})
	if waited := time.Since(ended); waited < 400*time.Millisecond {
		t.Fatalf("the takeover came %v after the lease's end: the handler's deadline is 500 ms", waited)
	}
	// What the first may have sent before it was stopped can no longer commit.
	if after := writer(); after == before || !strings.Contains(before, " term 1 ") || !strings.Contains(after, " term 2 ") {
		t.Fatalf("the holder's row was %q and is %q after the takeover", before, after)
	}
	ok(t, w.call("of-the-parent"))
	lost, err = w.Indeterminate(w.ctx, 10)
	ok(t, err)
	equal(t, "indeterminate after the takeover", len(lost), 1)
	if taken := w.lease(); taken.Epoch <= lost[0].Epoch {
		t.Fatalf("epoch %d was taken over as %d", lost[0].Epoch, taken.Epoch)
	}

	ok(t, p.Process.Signal(syscall.SIGCONT))
	fmt.Fprintln(p.in)
	equal(t, "child", p.says(), "committed: lease lost false")
	equal(t, "child", p.says(), "intended: lease lost false")
	entries, spent := w.sound()
	equal(t, "entries", entries, 2)
	equal(t, "spend", spent, 2)
}

// TestExpiredHolder is TestPausedHolder without a successor: that nobody took the
// lease does not lengthen it.
func TestExpiredHolder(t *testing.T) {
	url := pgtest.Shared(t).Fresh(t)
	w := begun(t, open(t, url, postgres.Options{}))
	p := startChild(t, url)
	equal(t, "child", p.says(), "opened")
	ok(t, p.Process.Signal(syscall.SIGSTOP))
	until(t, "the lease ends", func() bool {
		lost, err := w.Indeterminate(w.ctx, 10)
		ok(t, err)
		return len(lost) == 1
	})
	ok(t, p.Process.Signal(syscall.SIGCONT))
	fmt.Fprintln(p.in)
	equal(t, "child", p.says(), "committed: lease lost false")
	equal(t, "child", p.says(), "intended: lease lost false")
	w.sound()
}

// TestRunningHolder is the other side of TestPausedHolder: a process that is not
// stopped keeps its lease however long it works.
func TestRunningHolder(t *testing.T) {
	url := pgtest.Shared(t).Fresh(t)
	w := begun(t, open(t, url, postgres.Options{}))
	p := startChild(t, url)
	equal(t, "child", p.says(), "opened")
	began := time.Now()
	until(t, "twice the lease", func() bool {
		_, err := w.Lease(w.ctx, episode)
		wantKind(t, "lease of a live process", err, fault.InFlight)
		return time.Since(began) >= 2*time.Second
	})
	fmt.Fprintln(p.in)
	equal(t, "child", p.says(), "committed: internal true")
	equal(t, "child", p.says(), "intended: internal true")
	w.sound()
}

// TestOwnerReturns kills a process. Its successor under the same name need not wait
// for the lease to end, and finds the intent that was left open.
func TestOwnerReturns(t *testing.T) {
	url := pgtest.Shared(t).Fresh(t)
	begun(t, open(t, url, postgres.Options{}))
	p := startChild(t, url)
	equal(t, "child", p.says(), "opened")
	ok(t, p.Process.Kill())
	p.Wait()
	w := see(t, open(t, url, postgres.Options{Owner: "child", Lease: time.Hour}))
	lost, err := w.Indeterminate(w.ctx, 10)
	ok(t, err)
	equal(t, "indeterminate after the kill", len(lost), 1)
	ok(t, w.call("of-the-successor"))
}

// TestOwnerReplaced opens a store under a name that is in use: the older process is
// locked out from its next write on.
func TestOwnerReplaced(t *testing.T) {
	url := pgtest.Shared(t).Fresh(t)
	older := begun(t, open(t, url, postgres.Options{Owner: "one"}))
	ok(t, older.call("before"))
	newer := see(t, open(t, url, postgres.Options{Owner: "one"}))
	ok(t, newer.call("of-the-newer"))
	wantKind(t, "write of the older", older.Keep(older.ctx, []store.Object{text("x", "of the older")}), fault.Locked)
	_, err := older.Commit(older.ctx, older.pure("of-the-older"))
	wantKind(t, "call of the older", err, fault.Locked)
	_, err = older.Head(older.ctx) // it may still read
	ok(t, err)
	ok(t, newer.call("again"))
	entries, _ := newer.sound()
	equal(t, "entries", entries, 4)
	for _, name := range []string{"two words", "ümlaut", strings.Repeat("n", 65)} {
		_, err := postgres.Open(t.Context(), url, postgres.Options{Owner: name})
		wantKind(t, name, err, fault.Invalid)
	}
}

// TestAskedFor: a lease that another process asks for is given up when it has not
// been used for a while, and not while an intent is open under it.
func TestAskedFor(t *testing.T) {
	url := pgtest.Shared(t).Fresh(t)
	w := begun(t, open(t, url, postgres.Options{Lease: 600 * time.Millisecond, Handler: time.Hour, Idle: 50 * time.Millisecond}))
	in := w.intention("slow", w.lease())
	intent, err := w.Intend(w.ctx, in)
	ok(t, err)
	other := see(t, open(t, url, postgres.Options{}))
	began := time.Now()
	until(t, "more than the lease", func() bool {
		_, err := other.Lease(other.ctx, episode)
		wantKind(t, "lease in use", err, fault.InFlight)
		return time.Since(began) >= time.Second
	})
	_, err = w.Commit(w.ctx, w.finish(in, intent))
	ok(t, err)
	until(t, "the lease is given up", func() bool {
		_, err := other.Lease(other.ctx, episode)
		return err == nil
	})
	_, err = w.Intend(w.ctx, w.intention("late", in.Lease))
	wantKind(t, "intent under the lease given up", err, fault.LeaseLost)
	ok(t, other.call("in-turn"))
}

// TestStalledTransaction stops a process between the halves of a transaction, while
// it holds the head: the server ends it, and others go on.
func TestStalledTransaction(t *testing.T) {
	direct := pgtest.Shared(t).Fresh(t)
	w := begun(t, open(t, direct, postgres.Options{}))
	s := &script{verdict: pgtest.Stall}
	_, url := pgtest.Front(t, direct, s.judge)
	stalled := see(t, open(t, url, postgres.Options{}))
	s.armed.Store(true)
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(stalled.ctx)
	about := text("world/host-act/v1", "stalled")
	go func() {
		_, err := stalled.Act(ctx, store.Act{Objects: []store.Object{about}, Draft: stalled.draft(about)})
		ended <- err
	}()
	until(t, "the transaction stalls", s.met.Load)
	_, err := w.Commit(w.ctx, w.pure("meanwhile"))
	ok(t, err)
	cancel()
	<-ended
	w.sound()
}
