package rest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/rs/zerolog"

	"world/fault"
	"world/store"
)

// Class names what went wrong, beside its HTTP status. Append only: it crosses the wire.
type Class string

const (
	BadRequest       Class = "BadRequest"
	ReadTokenAbsent  Class = "ReadTokenAbsent"
	ReadTokenUnknown Class = "ReadTokenUnknown"
	Forbidden        Class = "Forbidden"
	NotFound         Class = "NotFound"
	Internal         Class = "Internal"
	Timeout          Class = "Timeout"
	InvalidSession   Class = "InvalidSession"
	SessionAbsent    Class = "SessionAbsent"
	SessionUnknown   Class = "SessionUnknown"
	SessionExpired   Class = "SessionExpired"
	Denied           Class = "Denied"       // by the law, and recorded
	HeadConflict     Class = "HeadConflict" // the log grew past the observed head
	PayloadTooLarge  Class = "PayloadTooLarge"
	CommitUncertain  Class = "CommitUncertain" // the receipt will tell
	Indeterminate    Class = "Indeterminate"   // only an operator can close it
	InFlight         Class = "InFlight"        // the same id is running
)

var statuses = map[Class]int{
	BadRequest:       http.StatusBadRequest,
	ReadTokenAbsent:  http.StatusUnauthorized,
	ReadTokenUnknown: http.StatusUnauthorized,
	Forbidden:        http.StatusForbidden,
	NotFound:         http.StatusNotFound,
	Internal:         http.StatusInternalServerError,
	Timeout:          http.StatusServiceUnavailable,
	InvalidSession:   http.StatusBadRequest,
	SessionAbsent:    http.StatusUnauthorized,
	SessionUnknown:   http.StatusUnauthorized,
	SessionExpired:   http.StatusUnauthorized,
	Denied:           http.StatusForbidden,
	HeadConflict:     http.StatusConflict,
	PayloadTooLarge:  http.StatusRequestEntityTooLarge,
	CommitUncertain:  http.StatusServiceUnavailable,
	Indeterminate:    http.StatusConflict,
	InFlight:         http.StatusConflict,
}

// problem is the inside of the error envelope.
type problem struct {
	Class    Class      `json:"class"`
	Message  string     `json:"message"`
	Denial   string     `json:"denial,omitempty"`       // label of the law, when Denied
	Observed *store.Ref `json:"observedHead,omitempty"` // when HeadConflict
	Selected *store.Ref `json:"selectedHead,omitempty"` // when HeadConflict
}

// Refuse answers the error envelope of a class.
func Refuse(w http.ResponseWriter, class Class, message string) {
	refuse(w, problem{Class: class, Message: message})
}

func refuse(w http.ResponseWriter, p problem) {
	writeJSON(w, statuses[p.Class], struct {
		Error problem `json:"error"`
	}{p})
}

// fail answers an error of the store. absent is what a missing item is called.
func fail(w http.ResponseWriter, r *http.Request, err error, absent string) {
	switch {
	case errors.Is(err, context.DeadlineExceeded) || fault.Is(err, fault.Timeout):
		Refuse(w, Timeout, "the store did not answer in time")
	case fault.Is(err, fault.NotFound):
		Refuse(w, NotFound, absent)
	default:
		zerolog.Ctx(r.Context()).Error().Err(err).Msg("a request failed")
		Refuse(w, Internal, "internal store failure")
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("rest: an answer does not marshal: " + err.Error())
	}
	write(w, status, "application/json", raw)
}

func write(w http.ResponseWriter, status int, contentType string, raw []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(raw) // a reader that went away is no failure of ours
}
