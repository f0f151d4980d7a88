package rest_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"world/coordinator"
	"world/fault"
	"world/session/attended"
	"world/store"
	"world/store/record"
)

// stopping is a store that does something in the place of a client's commit.
type stopping struct {
	store.Store
	do func(context.Context, store.Finish) (store.Entry, error)
}

func (s *stopping) Commit(ctx context.Context, f store.Finish) (store.Entry, error) {
	if f.Onto != "" {
		return s.do(ctx, f)
	}
	return s.Store.Commit(ctx, f)
}

// through serves commits whose last transaction is another.
func (d *desk) through(do func(context.Context, store.Finish) (store.Entry, error)) {
	options := d.Options
	options.Store = &stopping{d.Store, do}
	d.serve(d.Store, coordinator.New(options))
}

// TestReceiptsOfWhatDidNotLand follows a commit that was cut off from its intent
// to the operator's word on it.
func TestReceiptsOfWhatDidNotLand(t *testing.T) {
	d := openDesk(t)
	live, credential := d.mint("ep", may(5))
	d.through(func(context.Context, store.Finish) (store.Entry, error) {
		if status, answer := d.receipt("rest:cut"); status != 200 || answer != `{"invocationId":"rest:cut","state":"indeterminate"}` {
			t.Errorf("while it runs: %d %s", status, answer)
		}
		return store.Entry{}, fault.New("test", fault.Timeout, "no")
	})
	m := d.NextCommit(live, "cut", "a note")
	if status, answer := d.post(sent(t, body(m)), credential); status != 503 || !strings.Contains(answer, `"CommitUncertain"`) || !strings.Contains(answer, "receipt") {
		t.Fatalf("%d %s", status, answer)
	}
	d.serve(d.Store, d.C)
	if status, answer := d.receipt("rest:cut"); status != 200 || answer != `{"invocationId":"rest:cut","state":"indeterminate"}` {
		t.Errorf("afterwards: %d %s", status, answer)
	}
	if status, answer := d.post(sent(t, body(m)), credential); status != 409 || !strings.Contains(answer, `"Indeterminate"`) {
		t.Errorf("resent: %d %s", status, answer)
	}
	reconcileAs(t, d, "rest:cut", "abandoned")
	if status, answer := d.receipt("rest:cut"); status != 200 || answer != `{"invocationId":"rest:cut","state":"indeterminate","reconciled":"abandoned"}` {
		t.Errorf("reconciled: %d %s", status, answer)
	}
	if status, answer := d.post(sent(t, body(m)), credential); status != 409 || !strings.Contains(answer, "closed by an operator's word: abandoned") {
		t.Errorf("resent after the word: %d %s", status, answer)
	}
	d.clean()
}

// reconcileAs writes an operator's word as the attended desk does.
func reconcileAs(t *testing.T, d *desk, id store.InvocationID, verdict string) {
	t.Helper()
	w := attended.Word{ID: string(id), Verdict: verdict, Note: "looked"}
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
	intent, err := d.Store.IntentOf(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	object := store.NewObject(record.Reconciliation, "test", record.ReconciliationRecord{
		Intent: intent.Name(), Verdict: verdict, Note: w.Note, By: "test", At: d.Now(),
	}.Bytes())
	lease, err := d.Store.Lease(t.Context(), intent.Episode)
	if err != nil {
		t.Fatal(err)
	}
	draft, err := d.Office().Draft(t.Context(), "reconcile", object.Ref())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Store.Act(t.Context(), store.Act{
		Objects: []store.Object{object}, Draft: draft, At: d.Now(),
		Changes: []store.Change{store.ReconcileIntent{Episode: intent.Episode, Ordinal: intent.Ordinal, Reconciliation: object.Ref(), Lease: lease}},
	}); err != nil {
		t.Fatal(err)
	}
}

// TestReceiptOfABeatenCommit lets another entry come between intent and entry.
func TestReceiptOfABeatenCommit(t *testing.T) {
	d := openDesk(t)
	live, credential := d.mint("ep", may(5))
	other, otherToken := d.mint("other", may(5))
	m := d.NextCommit(live, "late", "a note")
	first := d.NextCommit(other, "first", "a note")
	d.through(func(ctx context.Context, f store.Finish) (store.Entry, error) {
		if f.Claim.Invocation == "rest:late" {
			if _, err := d.C.Commit(ctx, other, first); err != nil {
				t.Error(err)
			}
		}
		return d.Store.Commit(ctx, f)
	})
	for _, when := range []string{"at once", "again"} {
		status, answer := d.post(sent(t, body(m)), credential)
		want := fmt.Sprintf(`"observedHead":%q,"selectedHead":"sha256:`, m.Record.Observed)
		if status != 409 || !strings.Contains(answer, `"HeadConflict"`) || !strings.Contains(answer, want) {
			t.Errorf("%s: %d %s", when, status, answer)
		}
	}
	if status, answer := d.receipt("rest:late"); status != 200 || answer != `{"invocationId":"rest:late","state":"resolved","status":"failed"}` {
		t.Errorf("%d %s", status, answer)
	}
	if status, _ := d.post(sent(t, body(first)), otherToken); status != 200 {
		t.Errorf("the first: %d", status)
	}
	d.clean()
}

// TestOnlyCommitsHaveReceipts asks for the journals of calls.
func TestOnlyCommitsHaveReceipts(t *testing.T) {
	d := openDesk(t)
	for _, id := range []string{
		"mcp:ep:task", "effect:ep:0", "a2a:ep:task", "rest", "rest:", "REST:x", "rest:a:b", "rest:ep%3Atask", "rest:a%2Fb", "rest:%00",
		"rest:" + strings.Repeat("x", 129), "x", "sha256:00",
	} {
		if got := get(d, id); got.Code != 400 || got.Body.String() != `{"error":{"class":"BadRequest","message":"receipt id must be rest:\u003cid\u003e"}}` {
			t.Errorf("%s: %d %s", id, got.Code, got.Body)
		}
	}
	if got := get(d, "rest:x?all=true"); got.Code != 400 {
		t.Errorf("a query: %d %s", got.Code, got.Body)
	}
	if status, answer := d.receipt("rest:x"); status != 200 || answer != `{"invocationId":"rest:x","state":"not-started"}` {
		t.Errorf("control: %d %s", status, answer)
	}
	if err := d.Store.Close(); err != nil {
		t.Fatal(err)
	}
	if got := get(d, "rest:x"); got.Code != 500 || strings.Contains(got.Body.String(), "closed") {
		t.Errorf("a store that does not answer: %d %s", got.Code, got.Body)
	}
}

func get(d *desk, id string) *httptest.ResponseRecorder {
	w := world{mux: d.mux, log: &d.log}
	return w.get("/v1/receipts/" + id)
}

// TestACommitIsInFlight sends a commit while its twin runs: it waits for the
// twin's answer, and not for ever.
func TestACommitIsInFlight(t *testing.T) {
	d := openDesk(t)
	live, credential := d.mint("ep", may(5))
	m := d.NextCommit(live, "twin", "a note")
	reached, release := make(chan struct{}), make(chan struct{})
	d.patience = 200 * time.Millisecond
	d.through(func(ctx context.Context, f store.Finish) (store.Entry, error) {
		close(reached)
		<-release
		return d.Store.Commit(ctx, f)
	})
	done := make(chan int)
	go func() {
		status, _ := d.post(sent(t, body(m)), credential)
		done <- status
	}()
	<-reached
	if status, answer := d.post(sent(t, body(m)), credential); status != 409 || !strings.Contains(answer, `"InFlight","message":"rest:twin is in flight; resend the same id"`) {
		t.Errorf("%d %s", status, answer)
	}
	close(release)
	if status := <-done; status != 200 {
		t.Errorf("the first: %d", status)
	}
	if status, _ := d.post(sent(t, body(m)), credential); status != 200 {
		t.Errorf("resent: %d", status)
	}
}

// TestTooManyCommits holds as many bodies as are taken at once.
func TestTooManyCommits(t *testing.T) {
	d := openDesk(t)
	live, credential := d.mint("ep", may(9))
	release := make(chan struct{})
	reached := make(chan struct{}, 4)
	done := make(chan int, 4)
	for range 4 {
		go func() {
			status, _ := d.post(&held{reached: reached, release: release}, credential)
			done <- status
		}()
	}
	for range 4 {
		<-reached
	}
	m := d.NextCommit(live, "", "a note")
	if status, answer := d.post(sent(t, body(m)), credential); status != 503 || !strings.Contains(answer, "too many commits") {
		t.Errorf("%d %s", status, answer)
	}
	close(release)
	for range 4 {
		if status := <-done; status != 503 {
			t.Errorf("a body that did not come: %d", status)
		}
	}
	if status, _ := d.post(sent(t, body(m)), credential); status != 200 {
		t.Errorf("afterwards: %d", status)
	}
}

// held is a body that does not come.
type held struct {
	reached chan<- struct{}
	release <-chan struct{}
}

func (h *held) Read([]byte) (int, error) {
	h.reached <- struct{}{}
	<-h.release
	return 0, context.Canceled
}
