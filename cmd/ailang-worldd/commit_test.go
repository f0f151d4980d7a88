package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"world/confine/confinetest"
	"world/coordinator/coordtest"
	"world/session"
	"world/store"
	"world/store/fsck"
	"world/store/record"
)

// wireEntry is what a client reads of an entry before it commits.
type wireEntry struct {
	Header struct {
		EntryIndex  int64     `json:"entryIndex"`
		Interpreter store.Ref `json:"interpreter"`
	} `json:"header"`
	EntryHash store.Ref `json:"entryHash"`
	World     store.Ref `json:"world"`
}

// newest reads the newest entry of a running daemon as a client does.
func (r *running) newest() (e wireEntry) {
	r.t.Helper()
	_, text := r.get("/v1/log?limit=500")
	var page struct{ Items []wireEntry }
	if err := json.Unmarshal([]byte(text), &page); err != nil || len(page.Items) == 0 {
		r.t.Fatalf("%s: %v", text, err)
	}
	return page.Items[len(page.Items)-1]
}

// commit follows the newest entry with a note, over HTTP alone.
func (r *running) commit(credential, episode, id, text string) (int, string) {
	r.t.Helper()
	last := r.newest()
	m := coordtest.CommitOnto(store.Head{Index: last.Header.EntryIndex, World: last.World, Entry: last.EntryHash},
		store.EpisodeID(episode), last.Header.Interpreter, id, text)
	type object map[string]any
	var objects []object
	for i, o := range m.Objects {
		semantic := m.Record.Objects[i].SemanticID
		objects = append(objects, object{
			"hash": o.Ref(), "interfaceHash": store.RefOf([]byte(semantic)), "semanticId": semantic,
			"provenance": "rest:" + episode, "payload": base64.StdEncoding.EncodeToString(o.Bytes()),
		})
	}
	c := m.Record
	raw, err := json.Marshal(object{
		"invocationId": "rest:" + id, "observedHead": c.Observed, "objects": objects,
		"nextWorld": object{"ref": c.World, "revision": c.EntryIndex, "stateRoot": c.StateRoot, "logHead": c.EntryHash},
		"entry": object{"entryHash": c.EntryHash, "transitionRef": c.TransitionRef, "header": object{
			"entryIndex": c.EntryIndex, "semanticsEpoch": c.SemanticsEpoch, "transitionFn": c.TransitionFn,
			"interpreter": c.Interpreter, "prevEntryHash": c.PrevEntryHash, "writtenBy": c.WrittenBy,
		}},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return r.post(raw, credential)
}

func (r *running) post(body []byte, credential string) (int, string) {
	r.t.Helper()
	request, err := http.NewRequest(http.MethodPost, r.url+"/v1/commit", bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+credential)
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

// TestCommitsThroughADaemon commits over a real daemon's door with what its reads
// tell, is denied, starts it again and asks for receipts.
func TestCommitsThroughADaemon(t *testing.T) {
	f := flagsIn(confinetest.Dir(t))
	if err := start(t, f).stop(); err != nil {
		t.Fatal(err)
	}
	var may session.Minted
	withStore(t, f, func(s store.Store) {
		may = mint(t, s, "notes", record.SessionGrant{Effect: record.CommitEffect, Scope: record.CommitScope, Budget: 2})
	})
	d := start(t, f)
	for _, id := range []string{"one", "two"} {
		status, answer := d.commit(may.Token.Reveal(), "notes", id, "note "+id)
		_, head := d.get("/v1/head")
		if status != 200 || answer != fmt.Sprintf(`{"selectedHead":%q}`, head) {
			t.Fatalf("%s: %d %s, head %s", id, status, answer, head)
		}
	}
	status, answer := d.commit(may.Token.Reveal(), "notes", "three", "note three")
	if status != 403 || !strings.Contains(answer, `"denial":"denied:budget"`) {
		t.Errorf("the third: %d %s", status, answer)
	}
	if status, answer := d.post([]byte("{}"), strings.Repeat("0", 64)); status != 401 || !strings.Contains(answer, "SessionUnknown") {
		t.Errorf("a stranger: %d %s", status, answer)
	}
	if err := d.stop(); err != nil {
		t.Fatal(err)
	}
	d = start(t, f)
	for id, want := range map[string]string{
		"one": `"state":"resolved","status":"succeeded","resultRef":"sha256:`, "three": `"state":"not-started"}`, "four": `"state":"not-started"}`,
	} {
		if status, answer := d.get("/v1/receipts/rest:" + id); status != 200 || !strings.Contains(answer, want) {
			t.Errorf("receipt of %s: %d %s", id, status, answer)
		}
	}
	if strings.Contains(d.stdout.String(), "integrity") {
		t.Errorf("serve says %s", d.stdout)
	}
	if err := d.stop(); err != nil {
		t.Fatal(err)
	}
	withStore(t, f, func(s store.Store) {
		report, err := fsck.Run(t.Context(), s, fsck.Options{})
		if err != nil || !report.Clean() || report.Intents != 2 {
			t.Errorf("fsck: %+v, %v", report, err)
		}
	})
}
