package replay

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"world/broker/law"
	"world/coordinator/plan"
	"world/store"
)

// ledgerAt sums an episode's intents below an ordinal. Calls are mostly replayed
// in the order of their ordinals, so the sum goes on from where it was.
func (p *Replayer) ledgerAt(ctx context.Context, episode store.EpisodeID, ordinal int64) (store.Ledger, error) {
	ledger, ok := p.ledgers[episode]
	if !ok || ledger.Next > ordinal {
		ledger = store.Ledger{Episode: episode}
	}
	for ledger.Next < ordinal {
		intents, err := p.Store.Intents(ctx, episode, ledger.Next, int(min(page, ordinal-ledger.Next)))
		if err != nil {
			return ledger, err
		}
		if len(intents) == 0 {
			return ledger, divergence{AtSpend, "intent " + store.IntentName(episode, ledger.Next), "none"}
		}
		for _, i := range intents {
			if i.Ordinal != ledger.Next {
				return ledger, divergence{AtSpend, "intent " + store.IntentName(episode, ledger.Next), i.Name()}
			}
			ledger = spend(ledger, i)
		}
	}
	if p.ledgers == nil {
		p.ledgers = map[store.EpisodeID]store.Ledger{}
	}
	p.ledgers[episode] = ledger
	return ledger, nil
}

// spend returns the ledger after one more intent.
func spend(l store.Ledger, i store.Intent) store.Ledger {
	l.Next++
	l.Spent = slices.Clone(l.Spent)
	at, found := slices.BinarySearchFunc(l.Spent, i, func(s store.Spent, i store.Intent) int {
		return cmp.Or(cmp.Compare(s.Effect, i.Effect), cmp.Compare(s.Scope, i.Scope))
	})
	if !found {
		l.Spent = slices.Insert(l.Spent, at, store.Spent{Effect: i.Effect, Scope: i.Scope})
	}
	l.Spent[at].Total = law.Plus(l.Spent[at].Total, i.Cost)
	return l
}

// first returns the first error.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// shown readies a value for a report.
func shown[T ~string](v T) string { return plan.Clip(strings.TrimSpace(string(v)), 2048) }
