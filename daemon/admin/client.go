package admin

import (
	"context"
	"net"
	"os"
	"time"

	"world/canon"
	"world/fault"
	"world/session"
	"world/session/attended"
	"world/session/worktree"
	"world/store"
)

const (
	// replyTime bounds the wait for a daemon's reply: an answer at the terminal, git
	// and a mint fit in.
	replyTime = attended.AnswerTime + 5*time.Minute
	// breakTime is how long a daemon has to say how a request ended that was broken off.
	breakTime = 15 * time.Second
)

// Client asks a running daemon.
type Client struct {
	conn  *net.UnixConn
	world store.Ref
}

// Dial connects to the daemon of a state folder, to ask about the store whose
// genesis entry has the hash world. Unavailable when no daemon answers.
func Dial(stateDir string, world store.Ref) (*Client, error) {
	conn, err := dial(stateDir)
	if err != nil {
		return nil, err
	}
	return &Client{conn, world}, nil
}

// Close hangs up. A question that is still open is broken off.
func (c *Client) Close() error { return c.conn.Close() }

// Mint has the daemon ask at the terminal and mint.
func (c *Client) Mint(ctx context.Context, t *attended.Terminal, terms session.Terms) (Minted, error) {
	m := mintTerms(terms)
	return c.minted(ctx, request{Mint: &m}, t)
}

// New has the daemon ask at the terminal, add a worktree and mint. root is "" for
// the daemon's own workspace root, else it must be that.
func (c *Client) New(ctx context.Context, t *attended.Terminal, terms session.Terms, root worktree.Root, q worktree.Request) (Minted, error) {
	return c.minted(ctx, request{New: &newSession{
		Terms: mintTerms(terms), Root: root, Repository: q.Repository, Branch: q.Branch, Detach: q.Detach,
	}}, t)
}

// Revoke ends one session, or with an episode instead all of the episode's.
func (c *Client) Revoke(ctx context.Context, id store.CredentialID, episode store.EpisodeID) ([]store.CredentialID, error) {
	r, err := c.ask(ctx, request{Revoke: &revocation{Credential: id, Episode: episode}}, nil)
	return r.Revoked, err
}

// Reconcile has the daemon ask at the terminal and write an operator's word down.
func (c *Client) Reconcile(ctx context.Context, t *attended.Terminal, w attended.Word) (Reconciled, error) {
	asked := word(w)
	r, err := c.ask(ctx, request{Reconcile: &asked}, t.File())
	if err != nil {
		return Reconciled{}, err
	}
	if r.Reconciled == nil {
		return Reconciled{}, fault.New("admin: ask", fault.Internal, "the daemon's reply reconciles nothing")
	}
	return *r.Reconciled, nil
}

// End has the daemon ask at the terminal and end an episode. root is as for New.
func (c *Client) End(ctx context.Context, t *attended.Terminal, episode store.EpisodeID, root worktree.Root, remove bool) (Ended, error) {
	r, err := c.ask(ctx, request{End: &ending{episode, root, remove}}, t.File())
	if err != nil {
		return Ended{}, err
	}
	if r.Ended == nil {
		return Ended{}, fault.New("admin: ask", fault.Internal, "the daemon's reply ends nothing")
	}
	return *r.Ended, nil
}

func (c *Client) minted(ctx context.Context, q request, t *attended.Terminal) (Minted, error) {
	r, err := c.ask(ctx, q, t.File())
	if err != nil {
		return Minted{}, err
	}
	if r.Minted == nil {
		return Minted{}, fault.New("admin: ask", fault.Internal, "the daemon's reply mints nothing")
	}
	return *r.Minted, nil
}

// ask sends the one request of this connection and reads its reply.
func (c *Client) ask(ctx context.Context, q request, terminal *os.File) (reply, error) {
	const op = "admin: ask"
	ctx, cancel := context.WithTimeout(ctx, replyTime)
	defer cancel()
	// Breaking off only ends our half: the daemon still says what came of it.
	stop := context.AfterFunc(ctx, func() {
		c.conn.SetDeadline(time.Now().Add(breakTime))
		c.conn.CloseWrite()
	})
	defer stop()
	q.World = c.world
	// A daemon that refuses the peer answers before it has read everything.
	sent := send(c.conn, canon.Encode(q), terminal)
	body, file, err := receive(c.conn)
	if file != nil {
		file.Close()
	}
	if err != nil && sent != nil {
		return reply{}, fault.Wrap(op, fault.Unavailable, sent, "the request could not be sent")
	}
	if err != nil {
		return reply{}, fault.Wrap(op, fault.Uncertain, err, "the daemon's reply was lost; look before you repeat it: session list, receipts")
	}
	r, err := canon.DecodeExact[reply](body, canon.Limits{Bytes: maxFrame})
	if err != nil {
		return reply{}, fault.Wrap(op, fault.Uncertain, err, "the daemon's reply cannot be read; look before you repeat it: session list, receipts")
	}
	return r, r.err()
}
