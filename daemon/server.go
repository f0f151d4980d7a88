package daemon

import (
	"context"
	"errors"
	stdlog "log"
	"net"
	"net/http"
	"time"

	"github.com/rs/zerolog"
)

// Bounds of every connection. Reading ends before writing does, so that a body
// that does not arrive whole is answered with a refusal and not with silence.
const (
	readHeaderTime = 5 * time.Second
	readTime       = 25 * time.Second
	writeTime      = 30 * time.Second
	idleTime       = 120 * time.Second
	drainTime      = 10 * time.Second
	maxHeader      = 64 << 10 // bytes
)

// Server serves one listener.
type Server struct {
	http     *http.Server
	listener net.Listener
	drain    time.Duration
}

// NewServer puts the guard and the access log before a handler.
func NewServer(log zerolog.Logger, listener net.Listener, handler http.Handler) *Server {
	return &Server{listener: listener, drain: drainTime, http: &http.Server{
		Handler:           accessLog(log, Guard(listener.Addr(), handler)),
		ReadHeaderTimeout: readHeaderTime,
		ReadTimeout:       readTime,
		WriteTimeout:      writeTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          stdlog.New(log.With().Str("part", "http").Logger(), "", 0),
	}}
}

// URL is where the server listens.
func (s *Server) URL() string { return scheme + "://" + s.listener.Addr().String() }

// Run serves until ctx ends, then takes no new request, lets those that run
// finish for 10 seconds, and closes what is left.
func (s *Server) Run(ctx context.Context) error {
	served := make(chan error, 1)
	go func() { served <- s.http.Serve(s.listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.drain)
	defer cancel()
	err := s.http.Shutdown(drain)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	<-served // http.ErrServerClosed, now that it is closed
	return err
}
