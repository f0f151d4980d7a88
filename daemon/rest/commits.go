package rest

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"world/coordinator"
	"world/daemon/gate"
	"world/fault"
	"world/session"
	"world/store"
)

const (
	commitTime  = 3 * time.Second // default of CommitOptions.Patience
	resolveTime = 3 * time.Second // for the credential
	mostCommits = 4               // bodies that are held at once
)

// commitLimits bounds the body of a commit.
var commitLimits = gate.Limits{Bytes: 8 << 20, Depth: 8, Values: 1 << 14}

// CommitOptions is what commits stand on.
type CommitOptions struct {
	Store       store.Reader
	Coordinator *coordinator.Coordinator
	Wall        func() time.Time // wall clock; nil is time.Now
	Patience    time.Duration    // for what comes before a commit's intent; 3 s when 0
}

// Commits takes log entries that clients computed (D21).
type Commits struct {
	CommitOptions
	room chan struct{}
}

// NewCommits serves POST /v1/commit.
func NewCommits(o CommitOptions) *Commits {
	if o.Wall == nil {
		o.Wall = time.Now
	}
	if o.Patience == 0 {
		o.Patience = commitTime
	}
	return &Commits{o, make(chan struct{}, mostCommits)}
}

// ServeHTTP resolves the credential before it reads a byte of the body.
func (s *Commits) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, err := query(r); err != nil {
		Refuse(w, BadRequest, detail(err))
		return
	}
	live, err := s.resolve(r)
	if err != nil {
		refuseSession(w, r, err)
		return
	}
	select {
	case s.room <- struct{}{}:
		defer func() { <-s.room }()
	default:
		w.Header().Set("Retry-After", "1")
		Refuse(w, Timeout, "too many commits are running; nothing was done")
		return
	}
	_, body, err := gate.Read(w, r, commitLimits)
	if err != nil {
		refuseBody(w, err)
		return
	}
	m, err := readCommit(body, live.Record.Episode)
	if err != nil {
		Refuse(w, BadRequest, fault.Detail(err))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.Patience)
	defer cancel()
	reply, err := s.Coordinator.Commit(ctx, live, m)
	s.answer(w, r, m.Record.Observed, reply, err)
}

func (s *Commits) resolve(r *http.Request) (session.Live, error) {
	token, err := session.ParseHeader(r.Header.Values("Authorization"))
	if err != nil {
		return session.Live{}, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), resolveTime)
	defer cancel()
	now, err := session.Now(ctx, s.Store, s.Wall())
	if err != nil {
		return session.Live{}, err
	}
	return session.Resolve(ctx, s.Store, token, now)
}

// refuseSession answers whoever has no live session.
func refuseSession(w http.ResponseWriter, r *http.Request, err error) {
	for known, class := range map[*fault.Error]Class{
		session.ErrMalformed: InvalidSession, session.ErrAbsent: SessionAbsent,
		session.ErrUnknown: SessionUnknown, session.ErrExpired: SessionExpired,
	} {
		if errors.Is(err, known) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="world"`)
			Refuse(w, class, known.Detail)
			return
		}
	}
	fail(w, r, err, "no such session")
}

// refuseBody answers a body that is not read.
func refuseBody(w http.ResponseWriter, err error) {
	switch fault.KindOf(err) {
	case fault.Limit:
		Refuse(w, PayloadTooLarge, fault.Detail(err))
	case fault.Timeout:
		Refuse(w, Timeout, fault.Detail(err))
	default:
		Refuse(w, BadRequest, fault.Detail(err))
	}
}

// answer tells how a commit ended.
func (s *Commits) answer(w http.ResponseWriter, r *http.Request, observed store.Ref, reply coordinator.Reply, err error) {
	switch kind := fault.KindOf(err); {
	case err == nil && !reply.Failed:
		writeJSON(w, http.StatusOK, struct {
			SelectedHead store.Ref `json:"selectedHead"`
		}{reply.Entry.World})
	case err == nil && reply.Kind == fault.Denied:
		refuse(w, problem{Class: Denied, Message: reply.Message, Denial: reply.Denial})
	case err == nil:
		s.conflict(w, r, observed, reply.Message)
	case kind == fault.HeadMoved:
		s.conflict(w, r, observed, fault.Detail(err)+"; nothing was done")
	case kind == fault.Invalid, kind == fault.Limit, kind == fault.Conflict:
		Refuse(w, BadRequest, fault.Detail(err))
	case kind == fault.InFlight:
		Refuse(w, InFlight, fault.Detail(err))
	case kind == fault.Indeterminate:
		Refuse(w, Indeterminate, fault.Detail(err))
	case kind == fault.Uncertain:
		Refuse(w, CommitUncertain, fault.Detail(err))
	case kind == fault.Unauthenticated:
		refuseSession(w, r, err)
	default:
		fail(w, r, err, "not found")
	}
}

// conflict names both heads. The selected one may have moved on by now.
func (s *Commits) conflict(w http.ResponseWriter, r *http.Request, observed store.Ref, message string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), readTime)
	defer cancel()
	head, err := s.Store.Head(ctx)
	if err != nil {
		zerolog.Ctx(r.Context()).Error().Err(err).Msg("the head of a conflict could not be read")
	}
	refuse(w, problem{Class: HeadConflict, Message: message, Observed: &observed, Selected: &head.World})
}
