package store_test

import (
	"crypto/sha256"
	"strings"
	"testing"

	"world/fault"
	"world/store"
)

func TestRefOf(t *testing.T) {
	// Published test vectors of SHA-256.
	for body, want := range map[string]store.Ref{
		"":    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"abc": "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	} {
		got := store.RefOf([]byte(body))
		if got != want {
			t.Errorf("RefOf(%q) = %s, want %s", body, got, want)
		}
		if sum, ok := got.Parsed(); !ok || sum != got.Sum() || sum != sha256.Sum256([]byte(body)) {
			t.Errorf("%s parses as %x, %v", got, sum, ok)
		}
		if back := store.RefFromSum(got.Sum()); back != got {
			t.Errorf("RefFromSum(Sum()) = %s, want %s", back, got)
		}
	}
}

func TestParseRef(t *testing.T) {
	digits := strings.Repeat("0123456789abcdef", 4)
	if r, err := store.ParseRef("sha256:" + digits); err != nil || string(r) != "sha256:"+digits {
		t.Fatalf("a good ref: %v, %v", r, err)
	}
	for _, bad := range []string{
		"", "sha256:", digits, "sha256:" + digits[1:], "sha256:" + digits + "0", "sha256:" + strings.ToUpper(digits),
		"SHA256:" + digits, "sha512:" + digits, "sha256::" + digits[1:], "sha256:" + digits[:63] + "g",
		" sha256:" + digits, "sha256:" + digits + "\n", "sha256:" + digits[:63] + "\x00",
	} {
		if r, err := store.ParseRef(bad); !fault.Is(err, fault.Invalid) || r != "" {
			t.Errorf("ParseRef(%q) = %q, %v", bad, r, err)
		}
		if sum, ok := store.Ref(bad).Parsed(); ok {
			t.Errorf("%q parses as %x", bad, sum)
		}
	}
}

func TestSumOfAnUnparsedRef(t *testing.T) {
	for _, bad := range []store.Ref{"", "sha256:", "sha256:zz", store.RefOf(nil)[:60]} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Sum of %q came back", bad)
				}
			}()
			bad.Sum()
		}()
	}
}

func TestObject(t *testing.T) {
	body := []byte("bytes")
	o := store.NewObject("world/test/v1", "host", body)
	if o.Ref() != store.RefOf(body) || string(o.Bytes()) != "bytes" || o.Label() != (store.Label{SemanticID: "world/test/v1", Provenance: "host"}) {
		t.Fatalf("object %v", o)
	}
	if other := store.NewObject("world/other/v1", "host", body); other.Ref() != o.Ref() {
		t.Fatal("a label changed the address")
	}
}

func FuzzParseRef(f *testing.F) {
	f.Add("sha256:" + strings.Repeat("0", 64))
	f.Add("sha256:")
	f.Fuzz(func(t *testing.T, s string) {
		r, err := store.ParseRef(s)
		if err == nil && (string(r) != s || store.RefFromSum(r.Sum()) != r) {
			t.Fatalf("%q does not survive", s)
		}
	})
}
