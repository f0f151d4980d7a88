package main

import (
	"context"
	"fmt"
	"time"

	"world/fault"
	"world/store/fsck"
)

const (
	// scanTime bounds the check of evidence at start; fsck checks all of it.
	scanTime = 2 * time.Second
	// mostFound is how many findings of it are named.
	mostFound = 20
	// mostNamed is how many indeterminate intents are named at start.
	mostNamed = 500
)

// scan looks over the store before anything is served from it.
func (d *boot) scan(ctx context.Context) error {
	if err := d.checkEvidence(ctx); err != nil {
		return err
	}
	return d.nameIndeterminate(ctx)
}

// checkEvidence derives the newest evidence again, in a time that does not grow
// with the store, and repairs nothing. A store whose chain, head or spend does not
// hold is refused: every later entry and every budget would rest on it. Other
// findings do not keep a daemon from starting: each read checks its own bytes, and
// whatever rests on damaged ones fails (D23).
func (d *boot) checkEvidence(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, scanTime)
	defer cancel()
	report, err := fsck.Recent(ctx, d.store)
	for _, finding := range report.Findings[:min(mostFound, len(report.Findings))] {
		fmt.Fprintf(d.stdout, "integrity: %s\n", finding)
		d.log.Error().Str("where", finding.Where).Str("what", finding.What).Msg("integrity")
	}
	if !report.Clean() {
		fmt.Fprintln(d.stdout, "integrity: the evidence does not hold; run ailang-worldd fsck")
	}
	if report.Broken {
		return fault.New("serve: integrity", fault.Corrupt, "chain, head or spend of the store does not hold")
	}
	line := d.log.Info().Int64("objects", report.Objects).Int64("entries", report.Entries).Int64("intents", report.Intents).
		Int64("findings", int64(len(report.Findings))+report.More)
	switch {
	case err == nil:
		line.Msg("evidence checked")
	case ctx.Err() != nil:
		line.Msg("evidence checked in part: run fsck for all of it")
	default:
		return err
	}
	return nil
}

// nameIndeterminate names the effects of which nobody knows whether they happened.
// Their cost stays spent and nothing is done about them: an operator reconciles
// them (D10).
func (d *boot) nameIndeterminate(ctx context.Context) error {
	intents, err := d.store.Indeterminate(ctx, mostNamed)
	if err != nil || len(intents) == 0 {
		return err
	}
	many := fmt.Sprint(len(intents))
	if len(intents) == mostNamed {
		many += " or more"
	}
	fmt.Fprintf(d.stdout, "indeterminate effects: %s; their cost stays spent and none is retried; receipts lists them, reconcile closes one\n", many)
	d.log.Warn().Str("count", many).Msg("indeterminate effects")
	for _, i := range intents {
		fmt.Fprintf(d.stdout, "  indeterminate %s: %q on %q, cost %d, of call %s at %d\n", i.Name(), i.Effect, i.Scope, i.Cost, i.Invocation, i.At)
		d.log.Warn().Str("intent", i.Name()).Str("effect", string(i.Effect)).Str("scope", string(i.Scope)).
			Int64("cost", i.Cost).Str("invocation", string(i.Invocation)).Int64("at", i.At).Msg("indeterminate")
	}
	return nil
}
