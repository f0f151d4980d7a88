package rest_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"world/coordinator"
	"world/coordinator/coordtest"
	"world/daemon/rest"
	"world/session"
	"world/store"
	"world/store/fsck"
	"world/store/record"
)

// desk serves commits and receipts of a world with calls.
type desk struct {
	*coordtest.World
	mux      *http.ServeMux
	log      bytes.Buffer
	patience time.Duration
}

func openDesk(t testing.TB) *desk {
	t.Helper()
	d := &desk{World: coordtest.New(t, coordtest.Handlers{coordtest.Write: &coordtest.Hand{}}, nil), mux: http.NewServeMux()}
	d.serve(d.Options.Store, d.C)
	return d
}

func (d *desk) serve(s store.Reader, c *coordinator.Coordinator) {
	d.mux = http.NewServeMux()
	d.mux.Handle("POST /v1/commit", rest.NewCommits(rest.CommitOptions{Store: s, Coordinator: c, Wall: d.Options.Clock, Patience: d.patience}))
	d.mux.HandleFunc("GET /v1/receipts/{id}", rest.New(s, rest.Health{}).Receipt)
}

// mint makes a session that may commit, and keeps its credential.
func (d *desk) mint(episode store.EpisodeID, grants ...record.SessionGrant) (session.Live, string) {
	d.T.Helper()
	m, err := d.Office().Mint(d.T.Context(), session.Terms{Episode: episode, Grants: grants, TTL: 3600}, d.Now())
	if err != nil {
		d.T.Fatal(err)
	}
	return session.Live{Object: m.Object, Record: m.Record, Credential: m.Record.Credential}, m.Token.Reveal()
}

func may(budget int64) record.SessionGrant {
	return coordtest.Grant(record.CommitEffect, record.CommitScope, budget)
}

// post sends a body with a credential, "" for none.
func (d *desk) post(body io.Reader, credential string) (int, string) {
	d.T.Helper()
	request := httptest.NewRequestWithContext(zerolog.New(&d.log).WithContext(context.Background()), http.MethodPost, "/v1/commit", body)
	if credential != "" {
		request.Header.Set("Authorization", "Bearer "+credential)
	}
	answer := httptest.NewRecorder()
	d.mux.ServeHTTP(answer, request)
	return answer.Code, answer.Body.String()
}

func (d *desk) receipt(id string) (int, string) {
	answer := httptest.NewRecorder()
	ctx := zerolog.New(&d.log).WithContext(context.Background())
	d.mux.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/receipts/"+id, nil))
	return answer.Code, answer.Body.String()
}

// tree is a body that a test may spoil before it is sent.
type tree = map[string]any

// body writes a commit as a client does: every redundant member said twice.
func body(m coordinator.ClientCommit) tree {
	r := m.Record
	objects := []any{}
	for i, o := range m.Objects {
		id := r.Objects[i].SemanticID
		objects = append(objects, tree{
			"hash": o.Ref(), "interfaceHash": store.RefOf([]byte(id)), "semanticId": id,
			"provenance": "rest:" + string(r.Episode), "payload": base64.StdEncoding.EncodeToString(o.Bytes()),
		})
	}
	b := tree{
		"observedHead": r.Observed, "objects": objects,
		"nextWorld": tree{"ref": r.World, "revision": r.EntryIndex, "stateRoot": r.StateRoot, "logHead": r.EntryHash},
		"entry": tree{"entryHash": r.EntryHash, "transitionRef": r.TransitionRef, "header": tree{
			"entryIndex": r.EntryIndex, "semanticsEpoch": r.SemanticsEpoch, "transitionFn": r.TransitionFn,
			"interpreter": r.Interpreter, "prevEntryHash": r.PrevEntryHash, "writtenBy": r.WrittenBy,
		}},
	}
	if m.Task != "" {
		b["invocationId"] = "rest:" + m.Task
	}
	return b
}

func sent(t *testing.T, b any) io.Reader {
	t.Helper()
	raw, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(raw)
}

func (d *desk) clean() {
	d.T.Helper()
	report, err := fsck.Run(d.T.Context(), d.Store, fsck.Options{})
	if err != nil || !report.Clean() {
		d.T.Errorf("fsck: %v, %v", report.Findings, err)
	}
}

func TestCommitLands(t *testing.T) {
	d := openDesk(t)
	live, credential := d.mint("ep", may(2))
	m := d.NextCommit(live, "one", "a note <&>")
	if status, answer := d.receipt("rest:one"); status != 200 || answer != `{"invocationId":"rest:one","state":"not-started"}` {
		t.Errorf("before: %d %s", status, answer)
	}
	want := fmt.Sprintf(`{"selectedHead":%q}`, m.Record.World)
	for range 2 { // the same bytes again are answered the same
		if status, answer := d.post(sent(t, body(m)), credential); status != 200 || answer != want {
			t.Fatalf("%d %s, want %s", status, answer, want)
		}
	}
	if head, err := d.Store.Head(t.Context()); err != nil || head.World != m.Record.World {
		t.Errorf("head %v, %v", head, err)
	}
	wantReceipt := fmt.Sprintf(`{"invocationId":"rest:one","state":"resolved","status":"succeeded","resultRef":%q}`, m.Record.World)
	if status, answer := d.receipt("rest:one"); status != 200 || answer != wantReceipt {
		t.Errorf("after: %d %s", status, answer)
	}
	other := d.NextCommit(live, "one", "another")
	if status, answer := d.post(sent(t, body(other)), credential); status != 400 || !strings.Contains(answer, `"BadRequest","message":"rest:one was used already`) {
		t.Errorf("other bytes: %d %s", status, answer)
	}
	if status, _ := d.post(sent(t, body(d.NextCommit(live, "", "no id"))), credential); status != 200 {
		t.Errorf("without an id: %d", status)
	}
	d.clean()
}

func TestCommitIsDecided(t *testing.T) {
	d := openDesk(t)
	live, credential := d.mint("ep", may(1))
	stale := d.NextCommit(live, "stale", "late")
	if status, answer := d.post(sent(t, body(d.NextCommit(live, "last", "a note"))), credential); status != 200 {
		t.Fatalf("%d %s", status, answer)
	}
	before, err := d.Store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	status, answer := d.post(sent(t, body(d.NextCommit(live, "over", "a note"))), credential)
	if status != 403 || !strings.Contains(answer, `"class":"Denied"`) || !strings.HasSuffix(answer, `"denial":"denied:budget"}}`) {
		t.Errorf("over budget: %d %s", status, answer)
	}
	entry, err := d.Store.EntryOf(t.Context(), "rest:over")
	if err != nil || entry.Index != before.Index+1 || entry.WrittenBy != "coordinator:rest" {
		t.Errorf("the denial's entry %+v, %v", entry, err)
	}
	if status, answer := d.receipt("rest:over"); status != 200 || !strings.Contains(answer, "not-started") {
		t.Errorf("receipt of a denied commit: %d %s", status, answer)
	}
	bare, token := d.mint("bare", coordtest.Grant(coordtest.Write, coordtest.Scope, 1))
	if status, answer := d.post(sent(t, body(d.NextCommit(bare, "", "a note"))), token); status != 403 || !strings.Contains(answer, "denied:effect-name") {
		t.Errorf("no grant: %d %s", status, answer)
	}
	// A session with budget, and a head that has moved.
	rich, richToken := d.mint("rich", may(5))
	m := coordtest.CommitOnto(store.Head{Index: stale.Record.EntryIndex - 1, World: stale.Record.Observed, Entry: stale.Record.PrevEntryHash},
		rich.Record.Episode, stale.Record.Interpreter, "stale", "late")
	head, err := d.Store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"error":{"class":"HeadConflict","message":"observedHead is not the selected head; nothing was done","observedHead":%q,"selectedHead":%q}}`,
		m.Record.Observed, head.World)
	if status, answer := d.post(sent(t, body(m)), richToken); status != 409 || answer != want {
		t.Errorf("%d %s, want %s", status, answer, want)
	}
	m.Record.Observed = ""
	if status, answer := d.post(sent(t, body(m)), richToken); status != 409 || !strings.Contains(answer, `"observedHead":"","selectedHead":"sha256:`) {
		t.Errorf("no head: %d %s", status, answer)
	}
	if ledger, err := d.Store.Ledger(t.Context(), "rich"); err != nil || ledger.Next != 0 {
		t.Errorf("a conflict cost something: %+v, %v", ledger, err)
	}
	d.clean()
}

func TestCommitNeedsASession(t *testing.T) {
	d := openDesk(t)
	live, credential := d.mint("ep", may(5))
	_, revoked := d.mint("ep", may(5))
	short, err := d.Office().Mint(t.Context(), session.Terms{Episode: "ep", Grants: []record.SessionGrant{may(5)}, TTL: 1}, d.Now())
	if err != nil {
		t.Fatal(err)
	}
	d.Pass(1)
	token, err := session.ParseToken(revoked)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Office().Revoke(t.Context(), token.ID(), d.Now()); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(body(d.NextCommit(live, "one", "a note")))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		credential string
		status     int
		class      string
	}{
		"absent":    {"", 401, "SessionAbsent"},
		"malformed": {"x", 400, "InvalidSession"},
		"unknown":   {strings.Repeat("0", 64), 401, "SessionUnknown"},
		"revoked":   {revoked, 401, "SessionUnknown"},
		"expired":   {short.Token.Reveal(), 401, "SessionExpired"},
	} {
		read := &counted{Reader: bytes.NewReader(raw)}
		status, answer := d.post(read, c.credential)
		if status != c.status || !strings.Contains(answer, c.class) {
			t.Errorf("%s: %d %s", name, status, answer)
		}
		if read.n != 0 {
			t.Errorf("%s: %d bytes of the body were read", name, read.n)
		}
	}
	if status, answer := d.post(bytes.NewReader(raw), credential); status != 200 {
		t.Errorf("the session itself: %d %s", status, answer)
	}
	if strings.Contains(d.log.String(), credential) {
		t.Error("the log holds a credential")
	}
	// The body is of an episode, and a session of another cannot send it.
	_, stranger := d.mint("other", may(5))
	if status, answer := d.post(sent(t, body(d.NextCommit(live, "two", "a note"))), stranger); status != 400 || !strings.Contains(answer, "rest:other") {
		t.Errorf("another's body: %d %s", status, answer)
	}
}

type counted struct {
	io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}
