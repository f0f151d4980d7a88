package rest

import (
	"context"
	"errors"
	"net/http"
	"time"

	"world/fault"
	"world/store"
)

// readTime bounds the store's work for one read.
const readTime = 10 * time.Second

// Health is what the daemon says of itself. It is fixed while it runs, and shows
// every reader the floors that the operator moved (D26).
type Health struct {
	Status         string    `json:"status"`
	DaemonVersion  string    `json:"daemon_version"`
	InterpreterRef store.Ref `json:"interpreter_ref"`
	Confinement    string    `json:"confinement"`       // level reached
	Floor          string    `json:"confinement_floor"` // level demanded

	// Uses tells of each thing that runs confined whether the level it needs is reached.
	Uses map[string]bool `json:"confinement_uses"`
}

// Reads serves a store's evidence.
type Reads struct {
	store  store.Reader
	health Health
}

// New serves reads of a store.
func New(reader store.Reader, health Health) *Reads {
	return &Reads{reader, health}
}

// Health answers whether the daemon serves, and what it is.
func (s *Reads) Health(w http.ResponseWriter, r *http.Request) {
	if _, err := query(r); err != nil {
		Refuse(w, BadRequest, detail(err))
		return
	}
	writeJSON(w, http.StatusOK, s.health)
}

// Head answers the ref of the selected world as text.
func (s *Reads) Head(w http.ResponseWriter, r *http.Request) {
	if _, err := query(r); err != nil {
		Refuse(w, BadRequest, detail(err))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), readTime)
	defer cancel()
	head, err := s.store.Head(ctx)
	if err != nil {
		fail(w, r, err, "no world head has been selected yet")
		return
	}
	write(w, http.StatusOK, "text/plain; charset=utf-8", []byte(head.World))
}

// Log answers a page of entries.
func (s *Reads) Log(w http.ResponseWriter, r *http.Request) {
	from, limit, err := page(r)
	if err != nil {
		Refuse(w, BadRequest, detail(err))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), readTime)
	defer cancel()
	entries, err := s.store.Entries(ctx, from, limit)
	if err != nil {
		fail(w, r, err, "log entry not found")
		return
	}
	items := make([]entry, len(entries))
	for i, e := range entries {
		items[i] = entryOf(e)
	}
	writeJSON(w, http.StatusOK, struct {
		Items []entry `json:"items"`
	}{items})
}

// LogEntry answers one entry.
func (s *Reads) LogEntry(w http.ResponseWriter, r *http.Request) {
	_, err := query(r)
	index, indexErr := parseIndex(r.PathValue("index"))
	if err = errors.Join(err, indexErr); err != nil {
		Refuse(w, BadRequest, detail(err))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), readTime)
	defer cancel()
	e, err := s.store.Entry(ctx, index)
	if err != nil {
		fail(w, r, err, "log entry not found")
		return
	}
	writeJSON(w, http.StatusOK, entryOf(e))
}

// Object answers an object's labels, and its bytes when payload=true.
func (s *Reads) Object(w http.ResponseWriter, r *http.Request) {
	values, err := query(r, "payload")
	if payload, given := values["payload"]; given && payload != "true" && payload != "false" {
		err = bad("payload is true or false")
	}
	ref, refErr := store.ParseRef(r.PathValue("ref"))
	if err = errors.Join(err, refErr); err != nil {
		Refuse(w, BadRequest, detail(err))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), readTime)
	defer cancel()
	answer, err := s.object(ctx, ref, values["payload"] == "true")
	if err != nil {
		fail(w, r, err, "object not found")
		return
	}
	writeJSON(w, http.StatusOK, answer)
}

// detail is what the caller may know of a refused parameter: the first thing wrong.
func detail(err error) string {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Detail
	}
	panic("rest: a refusal that is no fault: " + err.Error())
}
