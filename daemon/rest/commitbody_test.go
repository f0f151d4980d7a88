package rest_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"world/coordinator"
	"world/fault"
	"world/store"
)

// TestBodiesThatAreRefused spoils each member of a good body: 400, its name in the
// message, and nothing is written.
func TestBodiesThatAreRefused(t *testing.T) {
	d := openDesk(t)
	live, credential := d.mint("ep", may(50))
	m := d.NextCommit(live, "one", "a note")
	header := func(b tree) tree { return b["entry"].(tree)["header"].(tree) }
	object := func(b tree) tree { return b["objects"].([]any)[0].(tree) }
	zero := store.RefOf(nil)
	type spoil struct {
		do   func(b tree)
		says string
	}
	cases := map[string]spoil{
		"revision":         {func(b tree) { b["nextWorld"].(tree)["revision"] = 7 }, "nextWorld.revision"},
		"log head":         {func(b tree) { b["nextWorld"].(tree)["logHead"] = zero }, "nextWorld.logHead"},
		"world":            {func(b tree) { b["nextWorld"].(tree)["ref"] = zero }, "nextWorld.ref"},
		"state":            {func(b tree) { b["nextWorld"].(tree)["stateRoot"] = zero }, "nextWorld.ref"},
		"upper case":       {func(b tree) { header(b)["interpreter"] = strings.ToUpper(string(zero)) }, "interpreter"},
		"author":           {func(b tree) { header(b)["writtenBy"] = "host:session" }, "writtenBy"},
		"float":            {func(b tree) { header(b)["entryIndex"] = 1.5 }, "entry.header.entryIndex"},
		"huge":             {func(b tree) { header(b)["entryIndex"] = json.Number("9223372036854775808") }, "entry.header.entryIndex"},
		"number as text":   {func(b tree) { header(b)["entryIndex"] = "1" }, "entry.header.entryIndex"},
		"id namespace":     {func(b tree) { b["invocationId"] = "mcp:ep:one" }, "invocationId"},
		"id of an effect":  {func(b tree) { b["invocationId"] = "effect:ep:0" }, "invocationId"},
		"id of parts":      {func(b tree) { b["invocationId"] = "rest:ep:one" }, "invocationId"},
		"empty id":         {func(b tree) { b["invocationId"] = "rest:" }, "invocationId"},
		"null id":          {func(b tree) { b["invocationId"] = nil }, "invocationId"},
		"objects":          {func(b tree) { b["objects"] = tree{} }, "objects"},
		"object":           {func(b tree) { b["objects"] = []any{1} }, "objects[0]"},
		"hash":             {func(b tree) { object(b)["hash"] = zero }, "objects[0].hash"},
		"payload":          {func(b tree) { object(b)["payload"] = base64.StdEncoding.EncodeToString([]byte("x")) }, "objects[0].hash"},
		"not base64":       {func(b tree) { object(b)["payload"] = "?" }, "objects[0].payload"},
		"loose base64":     {func(b tree) { object(b)["payload"] = object(b)["payload"].(string) + "\n" }, "objects[0].payload"},
		"interface hash":   {func(b tree) { object(b)["interfaceHash"] = zero }, "objects[0].interfaceHash"},
		"provenance":       {func(b tree) { object(b)["provenance"] = "host/broker" }, "objects[0].provenance"},
		"reserved id":      {func(b tree) { rename(object(b), "world/effect-record/v1") }, "world/"},
		"no id":            {func(b tree) { rename(object(b), "") }, "semanticId"},
		"NUL in an id":     {func(b tree) { rename(object(b), "a\x00b") }, "semanticId"},
		"body of an array": {nil, "the body is an array"},
	}
	for _, name := range []string{"observedHead", "objects", "nextWorld", "entry"} {
		cases["no "+name] = spoil{func(b tree) { delete(b, name) }, name}
	}
	for _, name := range []string{"entryIndex", "semanticsEpoch", "transitionFn", "interpreter", "prevEntryHash", "writtenBy"} {
		cases["no "+name] = spoil{func(b tree) { delete(header(b), name) }, "entry.header." + name}
		cases["null "+name] = spoil{func(b tree) { header(b)[name] = nil }, "entry.header." + name}
	}
	for where, at := range map[string]func(b tree) tree{
		"": func(b tree) tree { return b }, "entry.": func(b tree) tree { return b["entry"].(tree) },
		"entry.header.": header, "nextWorld.": func(b tree) tree { return b["nextWorld"].(tree) }, "objects[0].": object,
	} {
		cases["unknown in "+where] = spoil{func(b tree) { at(b)["Extra"] = 1 }, "unknown member " + where + "Extra"}
	}
	before := d.look(m)
	for name, c := range cases {
		b := body(m)
		var send any = b
		if c.do == nil {
			send = []any{b}
		} else {
			c.do(b)
		}
		status, answer := d.post(sent(t, send), credential)
		if status != 400 || !strings.Contains(answer, `"class":"BadRequest"`) || !strings.Contains(answer, c.says) {
			t.Errorf("%s: %d %s", name, status, answer)
		}
		if after := d.look(m); after != before {
			t.Fatalf("%s wrote something: %s, before %s", name, after, before)
		}
	}
	if status, answer := d.post(sent(t, body(m)), credential); status != 200 {
		t.Errorf("the sample: %d %s", status, answer)
	}
}

// rename changes an object's semantic id and the hash that goes with it.
func rename(object tree, id string) {
	object["semanticId"], object["interfaceHash"] = id, store.RefOf([]byte(id))
}

// look is what a refusal must leave alone.
func (d *desk) look(m coordinator.ClientCommit) string {
	head, err := d.Store.Head(d.T.Context())
	ledger, ledgerErr := d.Store.Ledger(d.T.Context(), m.Record.Episode)
	_, objectErr := d.Store.Object(d.T.Context(), m.Objects[0].Ref())
	_, claimErr := d.Store.Claim(d.T.Context(), "rest:one")
	return fmt.Sprint(head, err, ledger, ledgerErr, fault.Is(objectErr, fault.NotFound), fault.Is(claimErr, fault.NotFound))
}

// TestBytesThatAreRefused sends what a lenient parser would take.
func TestBytesThatAreRefused(t *testing.T) {
	d := openDesk(t)
	live, credential := d.mint("ep", may(50))
	m := d.NextCommit(live, "one", "a note")
	raw, err := json.Marshal(body(m))
	if err != nil {
		t.Fatal(err)
	}
	big := body(m)
	big["objects"] = []any{tree{"payload": strings.Repeat("A", 8<<20)}}
	huge, err := json.Marshal(big)
	if err != nil {
		t.Fatal(err)
	}
	before := d.look(m)
	for name, c := range map[string]struct {
		body   []byte
		status int
	}{
		"nothing":        {nil, 400},
		"trailing":       {append(bytes.Clone(raw), "{}"...), 400},
		"cut":            {raw[:len(raw)-1], 400},
		"duplicate":      {bytes.Replace(raw, []byte(`{"entry":`), []byte(`{"entry":{},"entry":`), 1), 400},
		"bad UTF-8":      {bytes.Replace(raw, []byte("notes/note/v1"), []byte("notes/\xff"), 1), 400},
		"lone surrogate": {bytes.Replace(raw, []byte("notes/note/v1"), []byte(`\ud800`), 1), 400},
		"deep":           {[]byte(strings.Repeat("[", 9) + strings.Repeat("]", 9)), 413},
		"many":           {[]byte("[" + strings.Repeat("1,", 1<<14) + "1]"), 413},
		"too large":      {huge, 413},
	} {
		if status, answer := d.post(bytes.NewReader(c.body), credential); status != c.status {
			t.Errorf("%s: %d %.200s", name, status, answer)
		}
	}
	if after := d.look(m); after != before {
		t.Errorf("something was written: %s, before %s", after, before)
	}
	if status, answer := d.post(bytes.NewReader(raw), credential); status != 200 {
		t.Errorf("the sample: %d %s", status, answer)
	}
}

// FuzzCommitBody sends any bytes: there is always one answer of a known class, and
// only a 200 moves the head.
func FuzzCommitBody(f *testing.F) {
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"observedHead":"","objects":[],"nextWorld":{},"entry":{}}`))
	d := openDesk(f)
	live, credential := d.mint("ep", may(1<<40))
	good, err := json.Marshal(body(d.NextCommit(live, "", "a note")))
	if err != nil {
		f.Fatal(err)
	}
	if status, answer := d.post(bytes.NewReader(good), credential); status != 200 {
		f.Fatalf("the sample: %d %s", status, answer)
	}
	f.Add(good)
	f.Fuzz(func(t *testing.T, raw []byte) {
		d.T = t
		before, err := d.Store.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		status, answer := d.post(bytes.NewReader(raw), credential)
		after, err := d.Store.Head(t.Context())
		if err != nil || (status == 200) != (after != before) {
			t.Errorf("%d %s: head %v, before %v, %v", status, answer, after, before, err)
		}
		if status != 200 && !strings.HasPrefix(answer, `{"error":{"class":"`) || status >= 500 {
			t.Errorf("%d %s", status, answer)
		}
	})
}
