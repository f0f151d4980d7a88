package policytool

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
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
	for flag, bad := range map[string][]string{"offset": {"-1", "x", "", "1.5", "99999999999"}, "limit": {"0", "-1", "many"}} {
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
	b.put("large", strings.Repeat(line, MaxContent/100))
	members := map[string]string{"op": "read", "path": "large"}
	if r := b.flagged(members, "offset", "0"); r.OK || !strings.Contains(r.Refused, "the file is 4040000 bytes as JSON text") {
		t.Errorf("%q", r.Refused)
	}
	if r := b.flagged(members, "offset", "39990"); !r.OK || r.Content != strings.Repeat(line, 10) || !r.Cut || r.Next != 0 {
		t.Errorf("%d bytes, %q", len(r.Content), r.Refused)
	}
	if r := b.flagged(members, "limit", "39999"); r.OK || !strings.Contains(r.Refused, "the part is ") {
		t.Errorf("%q", r.Refused)
	}
}
