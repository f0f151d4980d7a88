package mcp

import (
	"context"
	"errors"
	"net/http"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"world/canon"
	"world/coordinator"
	"world/daemon/gate"
	"world/fault"
	"world/session"
	"world/store"
)

const (
	resolveTime = 3 * time.Second // for the credential, and again for the snapshot
	mostAtOnce  = 32              // requests of one session that run at once
)

// limits bounds a body before the SDK sees it.
var limits = gate.Limits{Bytes: 4 << 20, Depth: 64, Values: 1 << 16, Batch: 16}

// Options is what the surface stands on.
type Options struct {
	Store       store.Reader
	Coordinator *coordinator.Coordinator
	Wall        func() time.Time // wall clock; nil is time.Now
	Version     string           // the daemon's, shown to clients
	Notice      string           // what every caller is to know of this daemon, "" for nothing
}

type surface struct {
	Options
	crowd *crowd
}

// New returns the handler of /mcp.
func New(o Options) http.Handler {
	if o.Wall == nil {
		o.Wall = time.Now
	}
	s := &surface{o, newCrowd(mostAtOnce)}
	protocol := sdk.NewStreamableHTTPHandler(serverOf, &sdk.StreamableHTTPOptions{
		Stateless: true,
		// The daemon's guard has checked Host and Origin, more strictly.
		DisableLocalhostProtection: true,
		MaxRequestBodyBytes:        int64(limits.Bytes),
		// A call goes on when its client goes away, and is found by its id.
		PropagateRequestCancellation: false,
	})
	return oneOfEach(noDeadSession(s.authenticate(gate.RPC(limits, s.admit(protocol)))))
}

// singular names the headers that mean something once or not at all. The SDK
// reads the first of several; another reader may take the last.
var singular = []string{"Content-Type", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Session-Id"}

func oneOfEach(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range singular {
			if len(r.Header.Values(name)) > 1 {
				gate.WriteError(w, http.StatusBadRequest, canon.Value{}, sdk.CodeHeaderMismatch, "the header "+name+" is given more than once")
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// statelessFrom is the revision from which clients know no protocol session.
const statelessFrom = "2026-07-28"

// noDeadSession tells a client of an older revision that the protocol session it
// names does not live here, since none does, before anything else: 404 is what
// makes it begin anew, where 400 or 401 would leave it stuck.
func noDeadSession(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Session-Id") != "" && r.Header.Get("Mcp-Protocol-Version") < statelessFrom {
			http.Error(w, "session not found", http.StatusNotFound)
			return
		}
		next.ServeHTTP(w, r)
	})
}

type liveKey struct{}

// authenticate resolves the bearer credential before a byte of the body is read.
func (s *surface) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		live, err := s.resolve(r)
		var f *fault.Error
		switch {
		case fault.Is(err, fault.Unauthenticated) && errors.As(err, &f):
			w.Header().Set("WWW-Authenticate", `Bearer realm="world"`)
			http.Error(w, f.Detail, http.StatusUnauthorized)
		case err != nil:
			unavailable(w, r, err)
		case !s.crowd.enter(live.Credential):
			w.Header().Set("Retry-After", "1")
			http.Error(w, "this session has too many requests running", http.StatusServiceUnavailable)
		default:
			defer s.crowd.leave(live.Credential)
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), liveKey{}, live)))
		}
	})
}

func (s *surface) resolve(r *http.Request) (session.Live, error) {
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

type serverKey struct{}

// admit takes the request's one snapshot and builds the one server that lists and
// calls by it. The SDK asks for the server twice a request: a server built there
// could see two different registries.
func (s *surface) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		live := r.Context().Value(liveKey{}).(session.Live)
		ctx, cancel := context.WithTimeout(r.Context(), resolveTime)
		snapshot, err := s.Coordinator.Snapshot(ctx, live)
		cancel()
		if err != nil {
			unavailable(w, r, err)
			return
		}
		server := s.newServer(*zerolog.Ctx(r.Context()), snapshot)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), serverKey{}, server)))
	})
}

func serverOf(r *http.Request) *sdk.Server {
	return r.Context().Value(serverKey{}).(*sdk.Server)
}

// unavailable fails closed: whoever cannot be checked is not served.
func unavailable(w http.ResponseWriter, r *http.Request, err error) {
	zerolog.Ctx(r.Context()).Error().Err(err).Msg("a request could not be checked")
	http.Error(w, "the session could not be checked", http.StatusServiceUnavailable)
}
