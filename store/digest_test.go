package store_test

import (
	"reflect"
	"testing"

	"world/store"
)

// TestDigestsCoverRows changes every field of every row in turn, nested ones
// included: each change gives another digest.
func TestDigestsCoverRows(t *testing.T) {
	covers(t, "entry", store.Entry{}, store.Entry.Digest)
	covers(t, "head", store.Head{}, store.Head.Digest)
	covers(t, "claim", store.Claim{}, store.Claim.Digest)
	covers(t, "intent", store.Intent{}, store.Intent.Digest)
	covers(t, "lease", store.Lease{}, store.Lease.Digest)
	covers(t, "registry head", store.HeadMove{}, store.HeadMove.Digest)
	covers(t, "spend", store.Spent{}, func(s store.Spent) store.Digest { return s.Digest("ep") })
	covers(t, "session", store.Session{}, func(s store.Session) store.Digest { return s.Digest(1) })
	covers(t, "label", store.Label{}, func(l store.Label) store.Digest { return store.LabelDigest("r", l) })
	covers(t, "object", store.Label{}, func(l store.Label) store.Digest { return store.ObjectDigest("r", l) })
	for what, same := range map[string]bool{
		"episode of a total":  store.Spent{}.Digest("a") == store.Spent{}.Digest("b"),
		"place of a session":  store.Session{}.Digest(1) == store.Session{}.Digest(2),
		"object of a label":   store.LabelDigest("a", store.Label{}) == store.LabelDigest("b", store.Label{}),
		"key of an object":    store.ObjectDigest("a", store.Label{}) == store.ObjectDigest("b", store.Label{}),
		"table of a label":    store.LabelDigest("a", store.Label{}) == store.ObjectDigest("a", store.Label{}),
		"time of the clock":   store.ClockDigest(1) == store.ClockDigest(2),
		"key of bookkeeping":  store.MetaDigest("a", "v") == store.MetaDigest("b", "v"),
		"its value":           store.MetaDigest("a", "v") == store.MetaDigest("a", "w"),
		"border of two texts": store.MetaDigest("ab", "c") == store.MetaDigest("a", "bc"),
	} {
		if same {
			t.Errorf("a digest does not cover the %s", what)
		}
	}
}

func covers[T any](t *testing.T, what string, zero T, digest func(T) store.Digest) {
	t.Helper()
	seen := map[store.Digest]string{digest(zero): "nothing"}
	var walk func(v reflect.Value, path string, whole *T)
	walk = func(v reflect.Value, path string, whole *T) {
		for i := range v.NumField() {
			f, name := v.Field(i), path+"."+v.Type().Field(i).Name
			switch f.Kind() {
			case reflect.Struct:
				walk(f, name, whole)
				continue
			case reflect.String:
				f.SetString("changed")
			case reflect.Int64:
				f.SetInt(1)
			default:
				t.Fatalf("%s%s is a %s", what, name, f.Kind())
			}
			d := digest(*whole)
			if before, taken := seen[d]; taken {
				t.Errorf("%s: changing %s gives the digest of changing %s", what, name, before)
			}
			seen[d] = name
			f.SetZero()
		}
	}
	changed := zero
	walk(reflect.ValueOf(&changed).Elem(), "", &changed)
	if len(seen) < 3 {
		t.Fatalf("%s: only %d digests", what, len(seen))
	}
}
