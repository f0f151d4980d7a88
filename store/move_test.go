package store_test

import (
	"testing"

	"world/fault"
	"world/store"
)

func TestOnlyAnUnsealedStoreTakesWriters(t *testing.T) {
	if err := store.Unsealed.Refuse("test"); err != nil {
		t.Errorf("unsealed: %v", err)
	}
	said := map[string]bool{}
	for _, seal := range []store.Seal{store.Filling, store.Held, store.Sealed, "of another build"} {
		err := seal.Refuse("test")
		if !fault.Is(err, fault.Unavailable) || said[fault.Detail(err)] {
			t.Errorf("%q: %v", seal, err)
		}
		said[fault.Detail(err)] = true
	}
}

func TestHomeIDs(t *testing.T) {
	for text, good := range map[string]bool{"": false, "host-abc": true, "a b": false, "a/b": false, string(make([]byte, 3)): false} {
		if _, err := store.ParseHomeID(text); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}
