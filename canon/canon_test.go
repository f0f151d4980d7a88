package canon_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"

	"world/canon"
	"world/fault"
)

func TestCanonicalForm(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{` { "b" : 1 , "a" : [ true , false , null ] } `, `{"a":[true,false,null],"b":1}`},
		{`{}`, `{}`},
		{`[]`, `[]`},
		{`-0`, `0`},
		{`-0.000`, `0`},
		{`1e3`, `1000`},
		{`1.50`, `1.5`},
		{`12.5e-3`, `0.0125`},
		{`120e-1`, `12`},
		{`-1.25E+1`, `-12.5`},
		{`100`, `100`},
		{`"\u0041\/<>&\u2028"`, "\"A/<>&\u2028\""},
		{`"\u0000\b\t\n\f\r\u001f\"\\"`, `"\u0000\b\t\n\f\r\u001f\"\\"`},
	} {
		got, err := canon.Canonical([]byte(c.in), canon.Limits{})
		if err != nil || string(got) != c.want {
			t.Errorf("Canonical(%s) = %s, %v; want %s", c.in, got, err, c.want)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name, in string
		kind     fault.Kind
	}{
		{"empty", ``, fault.Invalid},
		{"trailing", `{} {}`, fault.Invalid},
		{"duplicate", `{"a":1,"b":2,"a":3}`, fault.Invalid},
		{"duplicate by escape", `{"a":1,"\u0061":2}`, fault.Invalid},
		{"surrogate pair", `"\ud83d\ude00"`, fault.Invalid},
		{"lone surrogate", `"\udc00"`, fault.Invalid},
		{"bad utf-8", "\"\xff\"", fault.Invalid},
		{"raw control", "\"a\nb\"", fault.Invalid},
		{"leading zero", `01`, fault.Invalid},
		{"plus", `+1`, fault.Invalid},
		{"bare point", `1.`, fault.Invalid},
		{"bare exponent", `1e`, fault.Invalid},
		{"NaN", `NaN`, fault.Invalid},
		{"literal cut", `tru`, fault.Invalid},
		{"unknown escape", `"\x"`, fault.Invalid},
		{"open array", `[1`, fault.Invalid},
		{"trailing comma", `[1,]`, fault.Invalid},
		{"comment", `/**/1`, fault.Invalid},
		{"exponent", `1e10001`, fault.Limit},
		{"exponent overflow", `1e99999999999999999999`, fault.Limit},
		{"digits", strings.Repeat("1", 1025), fault.Limit},
		{"depth", strings.Repeat("[", 65) + strings.Repeat("]", 65), fault.Limit},
	} {
		if _, err := canon.Parse([]byte(c.in), canon.Limits{}); !fault.Is(err, c.kind) {
			t.Errorf("%s: got %v, want kind %v", c.name, err, c.kind)
		}
	}
	deep := strings.Repeat("[", 64) + strings.Repeat("]", 64)
	if _, err := canon.Parse([]byte(deep), canon.Limits{}); err != nil {
		t.Errorf("64 levels refused: %v", err)
	}
	if _, err := canon.Parse([]byte(`"abc"`), canon.Limits{Bytes: 4}); !fault.Is(err, fault.Limit) {
		t.Errorf("5 bytes under a limit of 4: got %v", err)
	}
	if _, err := canon.Parse([]byte(`"abc"`), canon.Limits{Bytes: 5}); err != nil {
		t.Errorf("5 bytes under a limit of 5: got %v", err)
	}
	// Exponents are few bytes, and the plain numbers that they stand for are many.
	numbers := func(n int) []byte { return []byte("[" + strings.Repeat("1e999,", n) + "0]") }
	if _, err := canon.Parse(numbers(9), canon.Limits{Bytes: 9001}); err != nil {
		t.Errorf("numbers that fill their room: %v", err)
	}
	if _, err := canon.Parse(numbers(10), canon.Limits{Bytes: 9001}); !fault.Is(err, fault.Limit) {
		t.Errorf("numbers over the limit together: %v", err)
	}
}

func TestAccessors(t *testing.T) {
	v, err := canon.Parse([]byte(`{"n":9223372036854775807,"f":1.5,"s":"x","b":true}`), canon.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	n, _ := v.Get("n")
	if got, ok := n.Int64(); !ok || got != 1<<63-1 {
		t.Errorf("n = %d, %v", got, ok)
	}
	f, _ := v.Get("f")
	if _, ok := f.Int64(); ok {
		t.Error("1.5 read as an integer")
	}
	if _, ok := v.Get("absent"); ok {
		t.Error("absent member found")
	}
	got := string(v.With("s", canon.NewInt(2)).With("z", canon.NewBool(false)).Bytes())
	if want := `{"b":true,"f":1.5,"n":9223372036854775807,"s":2,"z":false}`; got != want {
		t.Errorf("With: got %s, want %s", got, want)
	}
}

func TestDecodeExact(t *testing.T) {
	type pair struct {
		B string `json:"b"`
		A int64  `json:"a"`
	}
	good := canon.Encode(pair{"<x>", 1})
	if v, err := canon.DecodeExact[pair](good, canon.Limits{}); err != nil || v != (pair{"<x>", 1}) {
		t.Fatalf("got %v, %v from %s", v, err, good)
	}
	for _, bad := range []string{
		`{"a":1,"b":"x"}`, `{"b":"x"}`, `{"b":"x","a":1,"c":2}`, `{"B":"x","a":1}`, `{"b":"x","a":1} `,
		`{"b":"<","a":1}`, `{"b":"x","a":1.0}`, `{"b":1,"a":1}`, `{"b":"x","a":9223372036854775808}`, `null`,
	} {
		if _, err := canon.DecodeExact[pair]([]byte(bad), canon.Limits{}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: got %v, want invalid", bad, err)
		}
	}
}

// FuzzCanonical holds the form to be a fixed point, to mean what encoding/json
// reads, and to agree with RFC 8785 on integers and plain strings.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{"b":[1,2.5e3,-0],"a":"x\u0007"}`, `[{}]`, `"é"`, `1e-7`, `{"a":{"a":[null]}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		once, err := canon.Canonical(raw, canon.Limits{})
		if err != nil {
			return
		}
		twice, err := canon.Canonical(once, canon.Limits{})
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("not a fixed point: %s then %s, %v", once, twice, err)
		}
		var a, b any
		if json.Unmarshal(raw, &a) == nil {
			if err := json.Unmarshal(once, &b); err != nil {
				t.Fatalf("%s does not read back: %v", once, err)
			}
		}
		if !bytes.ContainsAny(once, ".0123456789") && bytes.IndexFunc(once, func(r rune) bool { return r > 0xffff }) < 0 {
			if want, err := jcs.Transform(raw); err == nil && !bytes.Equal(want, once) {
				t.Fatalf("got %s, RFC 8785 has %s", once, want)
			}
		}
	})
}

func TestPairsOnlyWhereAskedFor(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`"\ud83d\ude00 \u00e9"`, `"😀 é"`},
		{`{"\ud83d\ude00":1}`, `{"😀":1}`},
		{`"\ud83d"`, ""},
		{`"\ude00\ud83d"`, ""},
		{`"\ud83d\u0041"`, ""},
		{`"\ud83d\n"`, ""},
		{`"\ud83d\ude0"`, ""},
		{`{"\ud83d\ude00":1,"😀":2}`, ""},
	} {
		got, err := canon.Canonical([]byte(c.in), canon.Limits{Pairs: true})
		if string(got) != c.want || (c.want == "") != fault.Is(err, fault.Invalid) {
			t.Errorf("Canonical(%s) with pairs = %s, %v; want %q", c.in, got, err, c.want)
		}
		if _, err := canon.Canonical([]byte(c.in), canon.Limits{}); !fault.Is(err, fault.Invalid) {
			t.Errorf("Canonical(%s) without pairs: %v, want invalid", c.in, err)
		}
	}
}
