package pgtest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Verdict is what a proxy does with a request of a client: all that it sends up to
// where it waits for an answer.
type Verdict int

const (
	Pass      Verdict = iota
	CutBefore         // the server gets all but COMMIT, or nothing without one, then both sides end
	CutAfter          // the server gets and answers it, and the client's side ends without a word
	Late              // the client's side ends; the server gets it when the proxy is told to Deliver
	Stall             // nobody gets anything on this connection any more
)

// Request is one request on its way.
type Request struct {
	N      int  // of its proxy, from 1
	Commit bool // it asks to commit
}

// Proxy stands between clients and a cluster and loses messages on demand.
type Proxy struct {
	listener net.Listener
	server   string // socket
	judge    func(Request) Verdict
	mu       sync.Mutex
	requests int
	conns    map[net.Conn]bool
	late     []func()
	refuse   bool
}

// Front puts a proxy before the database of a URL and returns it with its own URL.
// judge decides each request and may be called from several goroutines.
func Front(t testing.TB, of string, judge func(Request) Verdict) (*Proxy, string) {
	t.Helper()
	u, err := url.Parse(of)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: listener, judge: judge, conns: map[net.Conn]bool{},
		server: fmt.Sprintf("%s/.s.PGSQL.%s", u.Query().Get("host"), u.Query().Get("port"))}
	go p.accept()
	t.Cleanup(func() { listener.Close(); p.Cut() })
	return p, fmt.Sprintf("postgres://%s@%s%s?sslmode=disable", u.User.Username(), listener.Addr(), u.Path)
}

// Refuse makes the proxy refuse new connections, or accept them again.
func (p *Proxy) Refuse(refuse bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = refuse
}

// Cut ends all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
}

// Deliver sends what was late, and waits until the server has answered it.
func (p *Proxy) Deliver() {
	p.mu.Lock()
	late := p.late
	p.late = nil
	p.mu.Unlock()
	for _, send := range late {
		send()
	}
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", p.server)
		p.mu.Lock()
		if err != nil || p.refuse {
			client.Close()
			if server != nil {
				server.Close()
			}
			p.mu.Unlock()
			continue
		}
		p.conns[client], p.conns[server] = true, true
		p.mu.Unlock()
		go (&link{p: p, client: client, server: server, statements: map[string]string{}}).run()
	}
}

// link is one connection through a proxy.
type link struct {
	p              *Proxy
	client, server net.Conn
	statements     map[string]string // prepared ones, by name
	request        [][]byte          // messages since the last answer
	commit         int               // index of the message that commits, -1 for none
	open           bool              // in a transaction that began by itself
	bound          string            // the statement bound last
	mute           chan struct{}     // closed when no answer may reach the client any more
	answered       chan struct{}     // closed when the server has ended
}

func (l *link) run() {
	l.mute = make(chan struct{})
	l.answered = make(chan struct{})
	go func() {
		defer close(l.answered)
		l.answer()
	}()
	l.commit = -1
	startup := true
	for {
		message, err := readMessage(l.client, startup)
		startup = false
		if err != nil {
			break
		}
		if !l.take(message) {
			<-l.answered
			return // the verdict has seen to both sides
		}
	}
	l.server.Close()
	l.client.Close()
	<-l.answered
}

// answer copies the server's words to the client until it is to be mute, then
// reads on: the server ends its work in peace.
func (l *link) answer() {
	b := make([]byte, 32<<10)
	for {
		n, err := l.server.Read(b)
		if err != nil {
			l.client.Close()
			return
		}
		select {
		case <-l.mute:
		default:
			l.client.Write(b[:n])
		}
	}
}

// readMessage reads one message of a client, whole. The first has no type.
func readMessage(r io.Reader, startup bool) ([]byte, error) {
	head := make([]byte, 5)
	if startup {
		head = head[:4]
	}
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	size := int(binary.BigEndian.Uint32(head[len(head)-4:])) - 4
	message := append(head, make([]byte, size)...)
	_, err := io.ReadFull(r, message[len(head):])
	return message, err
}

// take collects a message and, when it ends a request, obeys the judge. It reports
// whether the connection goes on.
func (l *link) take(message []byte) bool {
	texts := func() []string { return strings.SplitN(string(message[5:]), "\x00", 3) }
	l.request = append(l.request, message)
	switch message[0] {
	case 'P': // Parse: name, query
		l.statements[texts()[0]] = texts()[1]
	case 'B': // Bind: portal, statement
		l.bound = l.statements[texts()[1]]
	case 'E': // Execute
		l.runs(l.bound)
	case 'Q': // Query
		l.runs(texts()[0])
	}
	if kind := message[0]; kind != 'S' && kind != 'Q' && kind != 'H' {
		if kind == 0 || kind == 'X' || kind == 'p' { // startup, goodbye, password
			l.send(len(l.request))
		}
		return true
	}
	l.p.mu.Lock()
	l.p.requests++
	n := l.p.requests
	l.p.mu.Unlock()
	return l.obey(l.p.judge(Request{N: n, Commit: l.commit >= 0}))
}

// runs notes whether a statement commits: COMMIT does, and outside a transaction
// whatever writes.
func (l *link) runs(sql string) {
	word, _, _ := strings.Cut(strings.ToUpper(sql), " ")
	switch {
	case word == "BEGIN":
		l.open = true
	case word == "ROLLBACK":
		l.open = false
	case word == "COMMIT", !l.open && slices.Contains([]string{"INSERT", "UPDATE", "DELETE", "WITH"}, word):
		l.open = false
		l.commit = len(l.request) - 1
	}
}

func (l *link) obey(v Verdict) bool {
	switch v {
	case Pass:
		l.send(len(l.request))
		l.commit = -1
		return true
	case CutBefore:
		l.send(max(l.commit, 0))
		l.server.Close()
		l.client.Close()
	case CutAfter:
		close(l.mute)
		l.send(len(l.request))
		l.goodbye()
		l.client.Close()
	case Late:
		close(l.mute)
		l.client.Close()
		l.p.mu.Lock()
		l.p.late = append(l.p.late, func() { l.send(len(l.request)); l.goodbye() })
		l.p.mu.Unlock()
	case Stall:
		close(l.mute)
	}
	return false
}

// send passes on the first n messages of the request.
func (l *link) send(n int) {
	l.server.Write(bytes.Join(l.request[:n], nil))
	l.request = l.request[n:]
}

// goodbye lets the server end its work and waits for that: it closes its side when
// it has obeyed everything.
func (l *link) goodbye() {
	l.server.Write([]byte{'X', 0, 0, 0, 4})
	<-l.answered
}
