package admin

import (
	"context"
	"net"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"world/canon"
	"world/fault"
	"world/session"
	"world/session/attended"
	"world/session/worktree"
	"world/store"
)

const (
	// maxPeers bounds the connections served at one time.
	maxPeers = 8
	// requestTime bounds the arrival of a request and the departure of its reply.
	requestTime = 5 * time.Second
)

// Server answers the operator's requests, one a connection.
type Server struct {
	Desk  attended.Desk
	World store.Ref // hash of the genesis entry of the desk's store
	Log   zerolog.Logger
}

// Serve answers until ctx ends, then closes the listener, breaks off questions
// that are still open, and returns when the last answer is given.
func (s *Server) Serve(ctx context.Context, l *Listener) error {
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	var answering sync.WaitGroup
	defer answering.Wait()
	room := make(chan struct{}, maxPeers)
	for {
		conn, err := l.AcceptUnix()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case room <- struct{}{}:
			answering.Go(func() {
				defer func() { <-room }()
				s.answer(ctx, conn)
			})
		default:
			conn.Close() // whoever opened so many is not asking anything
		}
	}
}

// answer serves one connection.
func (s *Server) answer(ctx context.Context, conn *net.UnixConn) {
	defer conn.Close()
	out, err := s.converse(ctx, conn)
	if err != nil {
		s.Log.Warn().Err(err).Msg("admin request refused")
		out = refused(err)
	}
	conn.SetDeadline(time.Now().Add(requestTime))
	if err := send(conn, canon.Encode(out), nil); err != nil {
		s.Log.Warn().Err(err).Msg("admin reply not delivered")
	}
}

func (s *Server) converse(ctx context.Context, conn *net.UnixConn) (reply, error) {
	p, err := identify(conn)
	if err != nil {
		return reply{}, err
	}
	defer p.close()
	conn.SetDeadline(time.Now().Add(requestTime))
	body, file, err := receive(conn)
	if err != nil {
		return reply{}, fault.Wrap("admin: serve", fault.Invalid, err, "the request did not arrive whole")
	}
	if file != nil {
		defer file.Close()
	}
	q, err := decodeRequest(body)
	if err != nil {
		return reply{}, err
	}
	if q.World != s.World {
		return reply{}, fault.New("admin: serve", fault.Conflict, "this daemon serves another store")
	}
	conn.SetDeadline(time.Time{})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go hangUp(conn, cancel)
	if q.Revoke != nil {
		return s.revoke(ctx, *q.Revoke)
	}
	terminal, err := s.terminal(p, file)
	if err != nil {
		return reply{}, err
	}
	switch {
	case q.Mint != nil:
		return s.mint(ctx, terminal, *q.Mint)
	case q.Reconcile != nil:
		return s.reconcile(ctx, terminal, *q.Reconcile)
	case q.End != nil:
		return s.end(ctx, terminal, *q.End)
	}
	return s.open(ctx, terminal, *q.New)
}

// hangUp gives the request up when the client goes away: it sends nothing more,
// so whatever a read returns means that.
func hangUp(conn *net.UnixConn, cancel context.CancelFunc) {
	var b [1]byte
	conn.Read(b[:])
	cancel()
}

// terminal takes the peer's terminal, checked now and again after each answer.
func (s *Server) terminal(p *peer, file *os.File) (*attended.Terminal, error) {
	if file == nil {
		return nil, fault.New("admin: serve", fault.Denied, "this needs the controlling terminal of the one who asks")
	}
	if err := p.holds(file); err != nil {
		return nil, err
	}
	return attended.Adopt(file, func() error { return p.holds(file) }), nil
}

func (s *Server) mint(ctx context.Context, t *attended.Terminal, m mintTerms) (reply, error) {
	minted, err := s.Desk.Mint(ctx, t, m.terms())
	if err != nil {
		return reply{}, err
	}
	return s.minted(minted, ""), nil
}

func (s *Server) open(ctx context.Context, t *attended.Terminal, n newSession) (reply, error) {
	if err := s.rooted(n.Root); err != nil {
		return reply{}, err
	}
	minted, tree, err := s.Desk.New(ctx, t, n.Terms.terms(), n.request())
	if err != nil {
		return reply{}, err
	}
	return s.minted(minted, tree.Path), nil
}

// rooted refuses a workspace root that is not this daemon's; "" is.
func (s *Server) rooted(root worktree.Root) error {
	if root != "" && !same(root, s.Desk.Root) {
		return fault.New("admin: serve", fault.Invalid, "the daemon has another workspace root; leave --workspace-root out")
	}
	return nil
}

// same reports whether two names are of one folder.
func same(a, b worktree.Root) bool {
	first, err := os.Stat(string(a))
	if err != nil {
		return false
	}
	second, err := os.Stat(string(b))
	return err == nil && os.SameFile(first, second)
}

func (s *Server) minted(m session.Minted, path string) reply {
	s.Log.Info().Str("credential_id", string(m.Record.Credential)).Str("episode", string(m.Record.Episode)).
		Int64("entry", m.Entry.Index).Msg("session minted")
	answer := MintedOf(m, path)
	return reply{Minted: &answer}
}

func (s *Server) revoke(ctx context.Context, r revocation) (reply, error) {
	ids, err := s.Desk.Revoke(ctx, r.Credential, r.Episode)
	for _, id := range ids {
		s.Log.Info().Str("credential_id", string(id)).Msg("session revoked")
	}
	return reply{Revoked: ids}, err
}

func (s *Server) reconcile(ctx context.Context, t *attended.Terminal, w word) (reply, error) {
	done, err := s.Desk.Reconcile(ctx, t, attended.Word(w))
	if err != nil {
		return reply{}, err
	}
	s.Log.Info().Str("intent", done.Intent).Str("verdict", w.Verdict).Int64("entry", done.Entry).Msg("intent reconciled")
	answer := Reconciled(done)
	return reply{Reconciled: &answer}, nil
}

func (s *Server) end(ctx context.Context, t *attended.Terminal, e ending) (reply, error) {
	if err := s.rooted(e.Root); err != nil {
		return reply{}, err
	}
	done, err := s.Desk.End(ctx, t, e.Episode, e.Remove)
	for _, id := range done.Revoked {
		s.Log.Info().Str("credential_id", string(id)).Msg("session revoked")
	}
	if done.Object != "" {
		s.Log.Info().Str("episode", string(e.Episode)).Int64("entry", done.Entry).Str("worktree", string(done.Worktree)).Msg("episode ended")
	}
	if err != nil {
		return reply{}, err
	}
	answer := Ended(done)
	return reply{Ended: &answer}, nil
}
