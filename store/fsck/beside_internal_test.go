package fsck

import (
	"errors"
	"fmt"
	"testing"

	"world/store"
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

// TestKept forgets the oldest records, by number and by size.
func TestKept(t *testing.T) {
	for size, want := range map[int]int{1: keptRecords, keptBytes / 10: 10, keptBytes + 1: 0} {
		k := kept{records: map[store.Ref]any{}}
		ref := func(i int) store.Ref { return store.Ref(fmt.Sprint(i)) }
		for i := range keptRecords + 5 {
			k.put(ref(i), i, size)
		}
		if len(k.records) != want || len(k.order) != want || k.bytes != want*size {
			t.Errorf("of %d bytes: %d records and %d bytes are kept, want %d", size, len(k.records), k.bytes, want)
		}
		if v, there := k.records[ref(keptRecords+4)]; want > 0 && (!there || v != keptRecords+4) {
			t.Errorf("of %d bytes: the newest is %v", size, v)
		}
		if _, there := k.records[ref(0)]; there {
			t.Errorf("of %d bytes: the oldest is kept", size)
		}
	}
}
