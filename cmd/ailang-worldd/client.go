package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"world/daemon/rest"
	"world/fault"
	"world/infile"
)

const (
	clientTime = 30 * time.Second
	maxAnswer  = 128 << 20 // bytes: the largest object, in base64
)

// client reads from a running daemon over REST.
type client struct {
	addr string
	where
}

func (c *client) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.addr, "addr", "http://127.0.0.1:7644", "address of the daemon")
	cmd.Flags().StringVar(&c.state, "state-dir", "", "the daemon's state directory, where its read token lies")
	cmd.Flags().StringVar(&c.db, "db", "", "the daemon's store; a file's directory is the state directory unless that is given")
}

// get reads one path and returns its body. An answer that is no success is an
// error with the daemon's own words.
func (c *client) get(ctx context.Context, path string, query url.Values) ([]byte, error) {
	target := strings.TrimSuffix(c.addr, "/") + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	ctx, cancel := context.WithTimeout(ctx, clientTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, err
	}
	if err := c.authorize(request); err != nil {
		return nil, err
	}
	response, err := local.Do(request)
	if err != nil {
		return nil, exit{exitRefused, err}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil || len(body) > maxAnswer {
		return nil, exit{exitRefused, errors.Join(err, fmt.Errorf("the answer of %s cannot be read whole", path))}
	}
	if response.StatusCode != http.StatusOK {
		return nil, exit{exitRefused, refusal(path, response.StatusCode, body)}
	}
	return body, nil
}

// local never follows a redirect nor asks a proxy: the token is for the daemon alone.
var local = &http.Client{
	Transport:     &http.Transport{Proxy: nil, DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// maxToken is how many bytes of a read token's file are read.
const maxToken = 4 << 10

// authorize presents the read token, when a state directory was named. Without
// one the daemon may still serve open reads.
func (c *client) authorize(r *http.Request) error {
	state := c.state
	if state == "" && c.db != "" {
		l, err := newLayout(c.db, "", "")
		if err != nil {
			return err
		}
		state = l.state
	}
	if state == "" {
		return nil
	}
	token, err := infile.Read(filepath.Join(state, rest.TokenFile), maxToken)
	if err != nil {
		return fault.Wrap("cli: read token", fault.NotFound, err, "no read token in the state directory; is the daemon running?")
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	return nil
}

// refusal words an answer that is no success.
func refusal(path string, status int, body []byte) error {
	var envelope struct {
		Error struct{ Class, Message string }
	}
	if json.Unmarshal(body, &envelope) != nil || envelope.Error.Class == "" {
		return fmt.Errorf("%s returned HTTP %d", path, status)
	}
	return fmt.Errorf("%s returned HTTP %d %q: %q", path, status, envelope.Error.Class, envelope.Error.Message)
}
