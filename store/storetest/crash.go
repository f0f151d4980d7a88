package storetest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"world/broker/law"
	"world/fault"
	"world/store"
)

// scarce is an effect whose budget all callers of a victim fight over.
const (
	scarce       = law.Effect("Scarce")
	scarceBudget = 40
)

// Victim is the process that Crash kills: four callers make calls without end
// and say on out what was acknowledged. An engine's tests run it in a process of
// its own. round must differ from run to run, so that invocation ids do.
func Victim(s store.Store, round string, out io.Writer) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w := prepared(ctx, s)
	if _, err := w.Head(ctx); fault.Is(err, fault.NotFound) {
		if _, err := w.Begin(ctx, store.Act{Objects: []store.Object{w.source, w.interpreter, w.session}, Draft: w.draft(w.source, w.session)}); err != nil {
			return err
		}
	}
	lease, err := w.Lease(ctx, episode)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(out, format+"\n", args...)
	}
	say("ready")
	for _, err := range crowd(4, func(i int) error {
		for n := 0; ; n++ {
			if err := w.suffer(fmt.Sprintf("%s-%d-%d", round, i, n), n, lease, say); err != nil {
				return err
			}
		}
	}) {
		if err != nil {
			return err
		}
	}
	return nil
}

// suffer makes one call and acknowledges each of its transactions.
func (w *world) suffer(task string, n int, lease store.Lease, say func(string, ...any)) error {
	if n%3 == 0 {
		f := w.pure(task)
		e, err := w.Commit(w.ctx, f)
		if err == nil {
			say("entry %s %d", f.Claim.Invocation, e.Index)
		}
		return err
	}
	in := w.intention(task, 1<<40, lease)
	if n%3 == 1 {
		in.Effect, in.Budget = scarce, scarceBudget
	}
	intent, err := w.Intend(w.ctx, in)
	if fault.Is(err, fault.OverBudget) {
		return nil
	}
	if err != nil {
		return err
	}
	say("intent %s %d", intent.Invocation, intent.Ordinal)
	e, err := w.Commit(w.ctx, w.finish(in, intent))
	if err == nil {
		say("entry %s %d", intent.Invocation, e.Index)
	}
	return err
}

// Crash starts a victim on the store again and again, kills it at a random moment
// and holds the store to what was acknowledged: it is all there, the chain is
// dense, spend is the sum of the intents, and what has no outcome is listed.
func Crash(t *testing.T, open Opener, rounds int, seed uint64, victim func(round string) *exec.Cmd) {
	t.Logf("seed %d, %d rounds", seed, rounds)
	random := rand.New(rand.NewPCG(seed, 0))
	acked := map[string]int64{} // by kind and id
	for round := range rounds {
		pause := time.Duration(random.IntN(30_000)) * time.Microsecond
		for _, line := range killed(t, victim(fmt.Sprint("r", round)), pause) {
			var kind, id string
			var n int64
			if _, err := fmt.Sscanf(line, "%s %s %d", &kind, &id, &n); err != nil {
				t.Fatalf("round %d: the victim says %q", round, line)
			}
			acked[kind+" "+id] = n
		}
		w := resumed(t, open)
		w.survived(t, acked)
		ok(t, w.Close())
	}
	if len(acked) < rounds {
		t.Fatalf("only %d transactions were acknowledged in %d rounds", len(acked), rounds)
	}
	t.Logf("%d transactions were acknowledged", len(acked))
}

// killed runs a victim until a moment after it is ready, kills it, and returns
// the whole lines that it said after that.
func killed(t *testing.T, cmd *exec.Cmd, pause time.Duration) []string {
	t.Helper()
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	ok(t, err)
	ok(t, cmd.Start())
	lines := bufio.NewReader(out)
	if first, err := lines.ReadString('\n'); err != nil || first != "ready\n" {
		cmd.Process.Kill()
		cmd.Wait()
		t.Fatalf("the victim is not ready: %q, %v: %s", first, err, said.String())
	}
	kill := time.AfterFunc(pause, func() { cmd.Process.Kill() })
	defer kill.Stop()
	rest, err := io.ReadAll(lines)
	ok(t, err)
	cmd.Wait()
	if said.Len() > 0 {
		t.Fatalf("the victim failed by itself: %s", said.String())
	}
	all := strings.Split(string(rest), "\n")
	return all[:len(all)-1] // the last one may be cut
}

func (w *world) survived(t *testing.T, acked map[string]int64) {
	t.Helper()
	entries := w.checkChain(t)
	w.checkLedger(t)
	ledger, err := w.Ledger(w.ctx, episode)
	ok(t, err)
	if total := ledger.Of(scarce, scope); total > scarceBudget {
		t.Fatalf("%d units of %d are spent", total, scarceBudget)
	}
	entryOf := map[store.InvocationID]int64{}
	for _, e := range entries {
		entryOf[e.Invocation] = e.Index
	}
	intentOf := map[store.InvocationID]store.Intent{}
	var open []store.Intent
	for from := int64(0); from < ledger.Next; from += 500 {
		intents, err := w.Intents(w.ctx, episode, from, 500)
		ok(t, err)
		for _, i := range intents {
			intentOf[i.Invocation] = i
			_, done := entryOf[i.Invocation]
			if done != (i.Outcome.Status == store.StatusSucceeded) {
				t.Fatalf("intent %s is %q and its entry there: %v", i.Name(), i.Outcome.Status, done)
			}
			if !done {
				open = append(open, i)
			}
		}
	}
	for ack, n := range acked {
		kind, id, _ := strings.Cut(ack, " ")
		got, there := entryOf[store.InvocationID(id)]
		if kind == "intent" {
			var i store.Intent
			i, there = intentOf[store.InvocationID(id)]
			got = i.Ordinal
		}
		if !there || got != n {
			t.Fatalf("%s was acknowledged as %d; it is there: %v, as %d", ack, n, there, got)
		}
	}
	lost, err := w.Indeterminate(w.ctx, 500)
	ok(t, err)
	if len(lost) != len(open) {
		t.Fatalf("%d intents have no outcome, %d are listed as indeterminate", len(open), len(lost))
	}
}
