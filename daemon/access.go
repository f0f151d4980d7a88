package daemon

import (
	"net/http"
	"time"

	"github.com/rs/zerolog"
)

// accessLog writes a line for each request, and gives handlers the logger by
// context. It logs the pattern of the route and never a header, query or body,
// which may hold credentials.
func accessLog(log zerolog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		seen := &statusWriter{ResponseWriter: w}
		r = r.WithContext(log.WithContext(r.Context()))
		next.ServeHTTP(seen, r)
		log.Info().Str("route", r.Pattern).Int("status", seen.status).
			Dur("ms", time.Since(start)).Msg("request")
	})
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection, to flush.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
