package policytool

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"world/tools/policy"
)

// flagged sends a request with flags, given as name and value in turn after the members.
func (b bench) flagged(members map[string]string, flags ...string) Response {
	b.t.Helper()
	m := map[string]any{}
	for name, value := range members {
		m[name] = value
	}
	f := map[string]string{}
	for i := 0; i < len(flags); i += 2 {
		f[flags[i]] = flags[i+1]
	}
	m["flags"] = f
	raw, err := json.Marshal(m)
	if err != nil {
		b.t.Fatal(err)
	}
	_, r, _ := b.ask(string(raw))
	return r
}

// TestReadInParts: parts say that they are parts, and put together they are the file.
func TestReadInParts(t *testing.T) {
	b := newBench(t)
	read := func(path string, flags ...string) Response {
		return b.flagged(map[string]string{"op": "read", "path": path}, flags...)
	}
	for name, text := range map[string]string{
		"five": "1\n2\r\n3\nü\n5\n", "open": "1\n2\n3", "blank": "\n\n\n", "one": "1", "none": "",
	} {
		b.put(name, text)
		total := int64(len(strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")))
		if text == "" {
			total = 0
		}
		whole, parts := "", 0
		for next := "0"; ; parts++ {
			r := read(name, "offset", next, "limit", "2")
			if !r.OK || r.Lines != total || r.Cut != (total > 2) || (r.Why == cutLimit) != r.Cut {
				t.Fatalf("%s from %s: %+v", name, next, r)
			}
			whole += r.Content
			if r.Next == 0 {
				break
			}
			next = string(rune('0' + r.Next))
		}
		if whole != text || int64(parts) != max(0, (total-1)/2) {
			t.Errorf("%s in %d parts: %q", name, parts+1, whole)
		}
		if r := read(name); !r.OK || r.Content != text || r.Cut || r.Lines != 0 {
			t.Errorf("%s whole: %+v", name, r)
		}
		if r := read(name, "offset", strconv.FormatInt(max(total, 1), 10)); !r.OK || r.Why != cutPastEnd || r.Lines != total {
			t.Errorf("%s at its end: %+v", name, r)
		}
		if r := read(name, "offset", strconv.FormatInt(max(total-1, 0), 10)); !r.OK || r.Why == cutPastEnd {
			t.Errorf("%s at its last line: %+v", name, r)
		}
		if r := read(name, "offset", "100"); !r.OK || r.Content != "" || r.Cut != (text != "") || r.Next != 0 || r.Why != cutPastEnd || r.Lines != total {
			t.Errorf("%s beyond its end: %+v", name, r)
		}
	}
	for name, text := range map[string]string{"half": "abc\n\xe2\x82", "none of": "abc\n\xff\nd"} {
		b.put(name, text)
		if r := read(name, "limit", "1"); r.Refused != "read "+name+": not UTF-8 text; binary files cannot be read or edited as text" {
			t.Errorf("%+v", r)
		}
	}
	for flag, bad := range map[string][]string{"offset": {"-1", "x", "", "1.5", "9999999999999999999"}, "limit": {"0", "-1", "many"}} {
		for _, value := range bad {
			if r := read("five", flag, value); r.OK || !strings.Contains(r.Refused, "flag --"+flag+" must be a number from ") {
				t.Errorf("%s %q: %+v", flag, value, r)
			}
		}
	}
}

// TestReadPartOfALargeFile: what is too large as a whole is read in parts.
func TestReadPartOfALargeFile(t *testing.T) {
	b := newBench(t)
	line := strings.Repeat("x", 99) + "\n"
	b.put("large", strings.Repeat(line, MaxContent/100)+strings.Repeat("\t", MaxContent/2+1)+"\n")
	b.put("larger", strings.Repeat(line, policy.DefaultTransfer/100+1))
	b.put("one line", strings.Repeat("ü", MaxContent))
	read := func(path string, flags ...string) Response {
		return b.flagged(map[string]string{"op": "read", "path": path}, flags...)
	}
	const tooMuch = " is more than 4000000 bytes as JSON text; read part of it with offset and limit, of a long line with bytes besides"
	for _, c := range []struct {
		path  string
		flags []string
		want  string // of the refusal
	}{
		{"large", nil, "the file" + tooMuch},
		{"large", []string{"offset", "0"}, "the part" + tooMuch},
		{"large", []string{"offset", "40000"}, "the part" + tooMuch}, // its escapes
		{"large", []string{"limit", "40001"}, "the part" + tooMuch},
		{"larger", nil, "file exceeds the 8388608-byte transfer cap; read part of it with offset and limit"},
		{"one line", []string{"offset", "0", "limit", "1"}, "the part" + tooMuch},
		{"one line", []string{"bytes", "", "limit", "4000001"}, "the part" + tooMuch},
	} {
		if r := read(c.path, c.flags...); r.OK || r.Refused != "read "+c.path+": "+c.want {
			t.Errorf("%s %v: %.200q", c.path, c.flags, r.Refused)
		}
	}
	for _, path := range []string{"large", "larger"} {
		if r := read(path, "offset", "39980", "limit", "10"); !r.OK || r.Content != strings.Repeat(line, 10) || !r.Cut || r.Next != 39990 || r.Lines < 40_000 {
			t.Errorf("%s: %d bytes, %q", path, len(r.Content), r.Refused)
		}
	}
	if r := read("larger", "offset", "83886"); !r.OK || r.Content != line || r.Lines != 83887 || r.Next != 0 {
		t.Errorf("%d bytes of the last line, %+.100v", len(r.Content), r)
	}
	if r := read("one line", "bytes", "true", "offset", "7000001", "limit", "4"); !r.OK || r.Content != "üü" || r.Next != 7000004 || r.Bytes != 8000000 || r.Lines != 0 {
		t.Errorf("%.100q %+.100v", r.Content, r.Refused)
	}
	if err := os.Truncate(filepath.Join(b.root, "larger"), MaxScanned+1); err != nil { // its end is NUL
		t.Fatal(err)
	}
	if r := read("larger", "limit", "1"); r.Refused != "read larger: lines are read of files of at most 268435456 bytes; read part of this one with bytes, offset and limit" {
		t.Errorf("%.200q", r.Refused)
	}
	if r := read("larger", "bytes", "", "offset", "200", "limit", "100"); r.Content != line || r.Next != 300 || r.Bytes != MaxScanned+1 {
		t.Errorf("%.200q %+.100v", r.Content, r.Refused)
	}
}

// TestReadByBytes: parts are whole characters, and put together they are the file,
// however they are cut.
func TestReadByBytes(t *testing.T) {
	b := newBench(t)
	const text = "aü€😀\r\n\x00z😀"
	b.put("f", text)
	b.put("none", "")
	b.put("binary", "abc\xffdef")
	read := func(path string, flags ...string) Response {
		return b.flagged(map[string]string{"op": "read", "path": path}, append(flags, "bytes", "true")...)
	}
	for limit := 1; limit <= len(text)+1; limit++ {
		whole := ""
		for next := int64(0); ; {
			r := read("f", "offset", strconv.FormatInt(next, 10), "limit", strconv.Itoa(limit))
			if !r.OK || r.Content == "" || len(r.Content) > max(limit, 4) || r.Bytes != int64(len(text)) || r.Cut != (r.Content != text) || (r.Why == cutLimit) != r.Cut {
				t.Fatalf("%d at %d: %+v", limit, next, r)
			}
			if whole += r.Content; r.Next == 0 {
				break
			}
			next = r.Next
		}
		if whole != text {
			t.Errorf("by %d: %q", limit, whole)
		}
	}
	for at := range len(text) {
		begin := at
		for !utf8.RuneStart(text[begin]) {
			begin--
		}
		if r := read("f", "offset", strconv.Itoa(at)); r.Content != text[begin:] || r.Next != 0 {
			t.Errorf("from %d: %+v", at, r)
		}
	}
	for path, at := range map[string]string{"f": strconv.Itoa(len(text)), "none": "1"} {
		if r := read(path, "offset", at); !r.OK || r.Content != "" || r.Why != cutPastEnd || r.Cut != (path == "f") {
			t.Errorf("beyond the end: %+v", r)
		}
	}
	if r := read("none"); !r.OK || r.Cut || r.Why != "" || r.Content != "" {
		t.Errorf("%+v", r)
	}
	if r := read("binary", "offset", "1", "limit", "2"); r.Content != "bc" {
		t.Errorf("%+v", r)
	}
	for _, from := range []string{"0", "3"} {
		if r := read("binary", "offset", from); r.Refused != "read binary: not UTF-8 text; binary files cannot be read or edited as text" {
			t.Errorf("%+v", r)
		}
	}
	if r := b.flagged(map[string]string{"op": "read", "path": "f"}, "bytes", "false"); !strings.Contains(r.Refused, "flag --bytes is boolean") {
		t.Errorf("%+v", r)
	}
}

// TestPiecesAreHeldToText: a text is one wherever it is cut, and what is none is none.
func TestPiecesAreHeldToText(t *testing.T) {
	for text, want := range map[string]bool{"": true, "aü€😀": true, "😀\xf0\x9f": false, "\xe2\x82x": false, "a\xff": false, "\xed\xa0\x80": false} {
		for first := range len(text) + 1 {
			for second := first; second <= len(text); second++ {
				var c checked
				if got := c.add([]byte(text[:first])) && c.add([]byte(text[first:second])) && c.add([]byte(text[second:])) && c.whole(); got != want {
					t.Errorf("%q cut at %d and %d: %t", text, first, second, got)
				}
			}
		}
	}
}
