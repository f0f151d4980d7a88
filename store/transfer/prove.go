package transfer

import (
	"context"
	"slices"

	"world/fault"
	"world/store"
	"world/store/fsck"
)

// prove holds that a copy is sound by itself, and that it is this source's.
func prove(ctx context.Context, from, to Store, tell Progress) (store.Head, fsck.Report, error) {
	report, err := fsck.Run(ctx, to, fsck.Options{Progress: tell})
	if err != nil {
		return store.Head{}, report, err
	}
	if !report.Clean() {
		return store.Head{}, report, fault.New(op, fault.Corrupt, "the copy is not clean: %s", report.Findings[0])
	}
	want, err := from.Head(ctx)
	if err != nil {
		return want, report, err
	}
	got, err := to.Head(ctx)
	if err != nil {
		return got, report, err
	}
	if got != want {
		return got, report, fault.New(op, fault.Corrupt, "the copy's head is %d %s, the source's %d %s", got.Index, got.World, want.Index, want.World)
	}
	return got, report, sameSpend(ctx, from, to)
}

// sameSpend compares every running total.
func sameSpend(ctx context.Context, from, to Store) error {
	want, err := ledgers(ctx, from)
	if err != nil {
		return err
	}
	got, err := ledgers(ctx, to)
	if err != nil {
		return err
	}
	same := func(a, b store.Ledger) bool {
		return a.Episode == b.Episode && a.Next == b.Next && slices.Equal(a.Spent, b.Spent)
	}
	if !slices.EqualFunc(want, got, same) {
		return fault.New(op, fault.Corrupt, "the copy's spend is not the source's")
	}
	return nil
}

func ledgers(ctx context.Context, from Store) ([]store.Ledger, error) {
	a, err := from.Audit(ctx)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	var list []store.Ledger
	err = a.Ledgers(ctx, func(r store.Row[store.Ledger]) error {
		list = append(list, r.Value)
		return whole(r)
	})
	return list, err
}
