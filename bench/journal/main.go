// Command journal measures whole calls of World beside the least that a journal on
// the same server can do, and beside DBOS Transact, one after the other in one run.
//
//	ci/postgres sh -c 'cd bench && go run ./journal'
//
// Bare is two inserts through pgx, an intent and an outcome, each of which commits
// by itself. DBOS is one workflow of one step. World is one allowed effectful call
// from the coordinator's door to its answer: admission, plan laws, decision, and
// every object, hash and record of both transactions; only the interpreter is a
// constant, because it is no part of a journal. Every system syncs what it says.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"text/tabwriter"
	"time"
)

// system is something that makes calls. call makes one, as one of the callers.
type system struct {
	name    string
	call    func(ctx context.Context, caller int) error
	written func(ctx context.Context) (int64, error) // bytes of log so far; nil when nobody knows
	close   func()
}

// result is what a run of a system measured.
type result struct {
	name     string
	callers  int
	rate     float64 // calls a second
	p50, p99 time.Duration
	wal      int64 // bytes a call, -1 when not known
}

// measure lets callers make calls for a while, after a tenth of it to warm up.
func measure(ctx context.Context, s system, callers int, period time.Duration) (result, error) {
	if _, _, err := calls(ctx, s, callers, period/10); err != nil {
		return result{}, err
	}
	var before, after int64
	var err error
	if s.written != nil {
		if before, err = s.written(ctx); err != nil {
			return result{}, err
		}
	}
	times, took, err := calls(ctx, s, callers, period)
	if err != nil {
		return result{}, err
	}
	r := result{name: s.name, callers: callers, wal: -1, rate: float64(len(times)) / took.Seconds(),
		p50: times[len(times)/2], p99: times[len(times)*99/100]}
	if s.written != nil {
		if after, err = s.written(ctx); err != nil {
			return result{}, err
		}
		r.wal = (after - before) / int64(len(times))
	}
	return r, nil
}

// calls returns how long each call took, sorted, and all of them together.
func calls(ctx context.Context, s system, callers int, period time.Duration) ([]time.Duration, time.Duration, error) {
	times := make([][]time.Duration, callers)
	errs := make([]error, callers)
	var running sync.WaitGroup
	began := time.Now()
	for i := range callers {
		running.Go(func() {
			for first := true; first || time.Since(began) < period; first = false {
				start := time.Now()
				if errs[i] = s.call(ctx, i); errs[i] != nil {
					return
				}
				times[i] = append(times[i], time.Since(start))
			}
		})
	}
	running.Wait()
	took := time.Since(began)
	for _, err := range errs {
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	all := slices.Concat(times...)
	slices.Sort(all)
	return all, took, nil
}

// table measures every system at every number of callers, with a fresh store each.
func table(ctx context.Context, server string, period time.Duration) ([]result, error) {
	var all []result
	run := func(callers int, open func(context.Context, int) (system, error)) error {
		s, err := open(ctx, callers)
		if err != nil {
			return err
		}
		defer s.close()
		r, err := measure(ctx, s, callers, period)
		all = append(all, r)
		return err
	}
	for _, callers := range []int{1, 8, 32} {
		for _, open := range []func(context.Context, int) (system, error){
			onServer(server, openBare), onServer(server, openWorld), onServer(server, openDBOS),
		} {
			if err := run(callers, open); err != nil {
				return all, err
			}
		}
	}
	for _, callers := range []int{1, 32} {
		if err := run(callers, openFile); err != nil {
			return all, err
		}
	}
	return all, nil
}

// print writes the table, each world's line with its ratios.
func print(all []result) {
	rate := map[string]float64{}
	for _, r := range all {
		rate[fmt.Sprint(r.name, r.callers)] = r.rate
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "system\tcallers\tcalls/s\tp50\tp99\tWAL B/call\tof bare\tof DBOS\t")
	for _, r := range all {
		wal, bare, dbos := "", "", ""
		if r.wal >= 0 {
			wal = fmt.Sprint(r.wal)
		}
		if r.name == worldName {
			bare = fmt.Sprintf("%.2f", r.rate/rate[fmt.Sprint(bareName, r.callers)])
			dbos = fmt.Sprintf("%.2f", r.rate/rate[fmt.Sprint(dbosName, r.callers)])
		}
		fmt.Fprintf(w, "%s\t%d\t%.0f\t%v\t%v\t%s\t%s\t%s\t\n", r.name, r.callers, r.rate,
			r.p50.Round(10*time.Microsecond), r.p99.Round(10*time.Microsecond), wal, bare, dbos)
	}
	w.Flush()
}

// garbage is how much of it, in percent of what lives, is let gather, for every
// system alike: what the daemon does.
const garbage = 400

func main() {
	period := flag.Duration("for", 5*time.Second, "how long each line is measured")
	flag.Parse()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	server := os.Getenv("WORLD_POSTGRES")
	if server == "" {
		fmt.Fprintln(os.Stderr, "journal: run it under ci/postgres, which names a server")
		os.Exit(2)
	}
	all, err := table(context.Background(), server, *period)
	print(all)
	if err != nil {
		fmt.Fprintln(os.Stderr, "journal:", err)
		os.Exit(1)
	}
}
