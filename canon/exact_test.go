package canon

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

type name string

// inner and outer have every form of member that is read in one pass.
type inner struct {
	ID   name  `json:"id"`
	Rank int   `json:"rank"`
	Ok   bool  `json:"ok"`
	N    int64 `json:"n"`
}

type outer struct {
	Text  string   `json:"text"`
	List  []inner  `json:"list"`
	Names []name   `json:"names"`
	One   inner    `json:"one"`
	Deep  [][]bool `json:"deep"`
}

// samples are values that are written in many ways.
func samples() []outer {
	var all []outer
	for _, text := range []string{"", "plain", "é", `"`, "\\", "<&>", "\u2028", "\x7f", "\t", "\xff", "null", "{}"} {
		for _, n := range []int64{0, 1, -1, 10, math.MaxInt64, math.MinInt64, 999_999_999_999_999_999, 1_000_000_000_000_000_000} {
			v := outer{Text: text, One: inner{name(text), int(n), n > 0, n}, List: []inner{}, Names: []name{name(text), "x"}, Deep: [][]bool{}}
			all = append(all, v)
			v.List, v.Deep = []inner{v.One, {}}, [][]bool{{true, false}, {}}
			all = append(all, v)
			v.List, v.Names = nil, nil
			all = append(all, v)
		}
	}
	return all
}

// same holds that bytes which are read in one pass are read the same the long way,
// and reports whether they were.
func same[T any](t *testing.T, raw []byte) bool {
	t.Helper()
	var fast T
	if !readExact(raw, &fast) {
		return false
	}
	slow, err := decodeAny[T](raw, Limits{})
	if err != nil || !reflect.DeepEqual(fast, slow) {
		t.Errorf("%q is read as %+v, and the long way as %+v, %v", raw, fast, slow, err)
	}
	return true
}

// TestReadExact reads what Encode wrote, whole and with bytes changed, left out and
// put in.
func TestReadExact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const bits = `{}[]",:-0123456789truefalsn\\ é<x`
	whole, changed, read := 0, 0, 0
	for _, v := range samples() {
		raw := Encode(v)
		if same[outer](t, raw) {
			whole++
		}
		got, err := DecodeExact[outer](raw, Limits{})
		if (err == nil) != (v.Text != "\xff") || err == nil && !reflect.DeepEqual(got, v) {
			t.Errorf("%s: %+v, %v", raw, got, err)
		}
		for range 200 {
			b := append([]byte{}, raw...)
			at := random.IntN(len(b))
			switch random.IntN(3) {
			case 0:
				b[at] = bits[random.IntN(len(bits))]
			case 1:
				b = append(b[:at], b[at+1:]...)
			case 2:
				b = append(b[:at], append([]byte{bits[random.IntN(len(bits))]}, b[at:]...)...)
			}
			changed++
			if same[outer](t, b) {
				read++
			}
		}
	}
	if whole < 40 || read < 500 || read > changed/2 {
		t.Errorf("%d whole ones and %d of %d changed ones are read in one pass", whole, read, changed)
	}
}

func FuzzReadExact(f *testing.F) {
	for _, v := range samples() {
		f.Add(Encode(v))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { same[outer](t, raw) })
}

// TestShapes names types that are not read in one pass.
func TestShapes(t *testing.T) {
	type recursive struct {
		Kids []recursive `json:"kids"`
	}
	for _, v := range []any{
		struct {
			A []byte `json:"a"`
		}{}, struct {
			A string `json:"a,omitempty"`
		}{}, struct {
			A time.Time `json:"a"`
		}{}, struct {
			A map[string]string `json:"a"`
		}{}, struct{ A string }{}, struct {
			A *string `json:"a"`
		}{}, struct {
			A float64 `json:"a"`
		}{}, struct {
			a string //nolint:unused // a member that is not exported
		}{}, struct {
			inner `json:"inner"`
		}{}, recursive{}, struct{}{},
	} {
		if shapeOf(reflect.TypeOf(v)) != nil {
			t.Errorf("%T has a shape", v)
		}
	}
	if shapeOf(reflect.TypeFor[outer]()) == nil {
		t.Error("the sample has none")
	}
	if _, err := DecodeExact[inner](Encode(inner{}), Limits{Bytes: 3}); err == nil {
		t.Error("a limit of bytes is passed over")
	}
}
