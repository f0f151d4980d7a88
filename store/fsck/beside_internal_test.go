package fsck

import (
	"errors"
	"fmt"
	"testing"

	"world/broker/law"
	"world/store"
	"world/store/record"
)

// TestAhead works on rows on several processors and takes them in their order, in
// the goroutine that adds them; what is large goes in smaller batches.
func TestAhead(t *testing.T) {
	for _, size := range []int{0, 1000, batchBytes} {
		var taken []int
		a := newAhead(func(v *int) { *v *= 2 }, func(v *int) error { taken = append(taken, *v); return nil })
		const rows = 3*batchesOut*batchRows + 17
		for i := range rows {
			if err := a.add(i, size); err != nil {
				t.Fatal(err)
			}
			if waiting := i + 1 - len(taken); waiting > (batchesOut+1)*batchRows || size == batchBytes && waiting > batchesOut {
				t.Fatalf("%d rows of %d bytes wait", waiting, size)
			}
		}
		if err := a.end(nil); err != nil || len(taken) != rows {
			t.Fatalf("%d rows taken, %v", len(taken), err)
		}
		for i, v := range taken {
			if v != 2*i {
				t.Fatalf("row %d is %d", i, v)
			}
		}
	}
}

// TestAheadEnds ends early: by who takes, and by who adds, whose rows are taken all the same.
func TestAheadEnds(t *testing.T) {
	full := errors.New("full")
	a := newAhead(func(*int) {}, func(v *int) error {
		if *v == 5*batchRows {
			return full
		}
		return nil
	})
	var err error
	for i := 0; err == nil && i < 100*batchRows; i++ {
		err = a.add(i, 0)
	}
	if end := a.end(err); !errors.Is(err, full) || !errors.Is(end, full) {
		t.Errorf("add says %v, end %v", err, end)
	}
	torn, n := errors.New("torn"), 0
	a = newAhead(func(*int) {}, func(*int) error { n++; return nil })
	for i := range 10 {
		if err := a.add(i, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.end(torn); !errors.Is(err, torn) || n != 10 {
		t.Errorf("%d of 10 rows are taken, %v", n, err)
	}
}

// TestKept gives back what was put last where a hash says, of its own type only.
func TestKept(t *testing.T) {
	var b beside
	refs := make([]store.Ref, 4*keptRecords)
	for i := range refs {
		refs[i] = store.RefOf(fmt.Append(nil, i))
		sum := refs[i].Sum()
		b.recent.put(&sum, i)
		if got := b.recent.get(refs[i]); got != i {
			t.Fatalf("record %d is %v", i, got)
		}
	}
	there := 0
	for i, r := range refs {
		switch got := b.recent.get(r); got {
		case nil:
		case i:
			there++
		default:
			t.Fatalf("record %d is %v", i, got)
		}
	}
	if there < keptRecords/2 || there > keptRecords {
		t.Errorf("%d records are kept in %d places", there, keptRecords)
	}
	for _, none := range []store.Ref{"", "sha256:", store.RefFromSum([32]byte{})} {
		if got := b.recent.get(none); got != nil {
			t.Errorf("record %q is %v", none, got)
		}
	}
}

// TestKeepable keeps no record that is large, but for a request, whose payload it drops.
func TestKeepable(t *testing.T) {
	effect, payload := record.EffectRecord{Effect: "E"}, make([]byte, 1<<20)
	if keepable(effect, keptBytes) != effect || keepable(effect, keptBytes+1) != nil || keepable(nil, 1) != nil {
		t.Error("an effect record is not kept by its size")
	}
	got, ok := keepable(record.EffectRequest{Effect: "E", Scope: "S", Payload: payload}, len(payload)).(record.EffectRequest)
	if !ok || got.Payload != nil || got.Effect != "E" || got.Scope != "S" {
		t.Errorf("a request is kept as %v", got)
	}
	if got := keepable(record.EffectRequest{Effect: law.Effect(payload)}, 1); got != nil {
		t.Error("a request of a large effect is kept")
	}
}
