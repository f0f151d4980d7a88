package sqlite

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"world/store"
	"world/store/rows"
)

// TestKeptValues reads many values, some of them over and over and of changing
// memory: each reads back as it is, and stays so.
func TestKeptValues(t *testing.T) {
	for _, chunk := range [][]byte{nil, make([]byte, 0, chunkBytes)} {
		k := kept{chunk: chunk}
		var texts []string
		var refs []store.Ref
		var copies [][]byte
		room := make([]byte, 0, 1<<16)
		const n = 3000
		value := func(i int) []byte {
			size := []int{0, 1, keptText, keptText + 1, 300, chunkBytes / 4, chunkBytes/4 + 1}[i%7]
			return append(room[:0], strings.Repeat(fmt.Sprint(i%700, "."), size)[:size]...)
		}
		for i := range n {
			b := value(i)
			texts = append(texts, k.text(b))
			copies = append(copies, k.copied(b))
			ref := store.Ref("before")
			sum := store.RefOf(b).Sum()
			if err := k.ref(rows.Ref(&ref), append(room[:0], sum[:]...)); err != nil {
				t.Fatal(err)
			}
			refs = append(refs, ref)
		}
		for i := range n {
			b := value(i)
			if texts[i] != string(b) || !bytes.Equal(copies[i], b) || refs[i] != store.RefOf(b) {
				t.Fatalf("value %d of %d bytes reads back as %.20q, %.20q and %s", i, len(b), texts[i], copies[i], refs[i])
			}
			if len(b) == 0 != (copies[i] == nil) || cap(copies[i]) > 2*len(b)+64 {
				t.Fatalf("%d bytes are copied to %d of %d", len(b), len(copies[i]), cap(copies[i]))
			}
		}
	}
}

// TestKeptRefs refuses what is no ref, and reads none as none, whatever was read before.
func TestKeptRefs(t *testing.T) {
	var k kept
	zero := [32]byte{}
	for _, c := range []struct {
		b    []byte
		want store.Ref
	}{
		{zero[:], store.RefFromSum(zero)}, {nil, ""}, {zero[:31], "?"}, {zero[:], store.RefFromSum(zero)}, {make([]byte, 33), "?"},
	} {
		got := store.Ref("before")
		if err := k.ref(rows.Ref(&got), c.b); (err != nil) != (c.want == "?") || err == nil && got != c.want {
			t.Errorf("%d bytes read as %q, %v", len(c.b), got, err)
		}
	}
}
