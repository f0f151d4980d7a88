package daemon

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"world/daemon/gate"
)

// running starts a server around a handler, and returns its URL, the function
// that asks it to end, and what it ends with.
func running(t *testing.T, drain time.Duration, handler http.HandlerFunc) (url string, stop func(), ended <-chan error) {
	t.Helper()
	listener, err := Bind{"127.0.0.1:0"}.Listen()
	if err != nil {
		t.Fatal(err)
	}
	server := NewServer(zerolog.Nop(), listener, handler)
	server.drain = drain
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	return server.URL(), cancel, done
}

func TestBoundsAreThoseOfTheReference(t *testing.T) {
	listener, err := Bind{"127.0.0.1:0"}.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	s := NewServer(zerolog.Nop(), listener, http.NotFoundHandler())
	if s.http.ReadHeaderTimeout != 5*time.Second || s.http.ReadTimeout != 25*time.Second || s.http.WriteTimeout != 30*time.Second ||
		s.http.IdleTimeout != 120*time.Second || s.drain != 10*time.Second || s.http.MaxHeaderBytes != 65536 {
		t.Fatalf("bounds %+v, drain %v", s.http, s.drain)
	}
}

// TestABodyThatStaysAwayIsAnswered sends less than it announced. The server's bounds
// are the real ones, run down twenty times as fast.
func TestABodyThatStaysAwayIsAnswered(t *testing.T) {
	listener, err := Bind{"127.0.0.1:0"}.Listen()
	if err != nil {
		t.Fatal(err)
	}
	door := gate.RPC(gate.Limits{Bytes: 1 << 10, Depth: 8, Values: 8}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "arrived")
	}))
	server := NewServer(zerolog.Nop(), listener, door)
	server.http.ReadTimeout /= 20
	server.http.WriteTimeout /= 20
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	defer func() { cancel(); <-ended }()
	const body = `{"jsonrpc":"2.0","method":"m"}`
	for _, c := range []struct{ announced, status int }{
		{len(body), http.StatusOK},
		{len(body) + 1, http.StatusRequestTimeout},
	} {
		connection, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(connection, "POST / HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n%s", listener.Addr(), c.announced, body)
		answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
		if err != nil || answer.StatusCode != c.status {
			t.Errorf("%d bytes announced, %d sent: %+v, %v", c.announced, len(body), answer, err)
		}
		connection.Close()
	}
}

func TestARunningRequestIsLetFinish(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	url, stop, ended := running(t, time.Minute, func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-release
		_, _ = io.WriteString(w, "finished")
	})
	answered := make(chan string, 1)
	go func() {
		response, err := http.Get(url)
		if err != nil {
			answered <- err.Error()
			return
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(response.Body)
		answered <- string(body)
	}()
	<-entered
	stop()
	close(release)
	if answer := <-answered; answer != "finished" {
		t.Errorf("the request was answered %q", answer)
	}
	if err := <-ended; err != nil {
		t.Errorf("the server ended with %v", err)
	}
	if _, err := http.Get(url); err == nil {
		t.Error("the server still listens")
	}
}

func TestAfterTheDrainConnectionsAreCut(t *testing.T) {
	entered, cut := make(chan struct{}), make(chan struct{})
	url, stop, ended := running(t, time.Millisecond, func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
		close(cut)
	})
	failed := make(chan error, 1)
	go func() {
		response, err := http.Get(url)
		if err == nil {
			response.Body.Close()
		}
		failed <- err
	}()
	<-entered
	stop()
	if err := <-ended; err == nil {
		t.Error("a drain that ran out of time was not reported")
	}
	if err := <-failed; err == nil {
		t.Error("the connection was not cut")
	}
	<-cut
}
