package main

import (
	"context"
	"fmt"
)

// mostNamed is how many indeterminate intents are named at start.
const mostNamed = 500

// scan names the effects of which nobody knows whether they happened. Their cost
// stays spent and nothing is done about them: an operator reconciles them (D10).
func (d *boot) scan(ctx context.Context) error {
	intents, err := d.store.Indeterminate(ctx, mostNamed)
	if err != nil || len(intents) == 0 {
		return err
	}
	many := fmt.Sprint(len(intents))
	if len(intents) == mostNamed {
		many += " or more"
	}
	fmt.Fprintf(d.stdout, "indeterminate effects: %s; their cost stays spent and none is retried\n", many)
	d.log.Warn().Str("count", many).Msg("indeterminate effects")
	for _, i := range intents {
		fmt.Fprintf(d.stdout, "  indeterminate %s: %q on %q, cost %d, of call %s at %d\n", i.Name(), i.Effect, i.Scope, i.Cost, i.Invocation, i.At)
		d.log.Warn().Str("intent", i.Name()).Str("effect", string(i.Effect)).Str("scope", string(i.Scope)).
			Int64("cost", i.Cost).Str("invocation", string(i.Invocation)).Int64("at", i.At).Msg("indeterminate")
	}
	return nil
}
