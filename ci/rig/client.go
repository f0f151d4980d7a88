package rig

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Agent is a real MCP client with one session's credential.
type Agent struct{ session *mcp.ClientSession }

// Connect opens an MCP session over loopback.
func (d *Daemon) Connect(ctx context.Context, credential string) (*Agent, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "rig", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint:             d.Address + "/mcp",
		HTTPClient:           &http.Client{Transport: bearer(credential)},
		DisableStandaloneSSE: true,
		MaxRetries:           -1,
	}, nil)
	if err != nil {
		return nil, err
	}
	return &Agent{session}, nil
}

// bearer adds a credential to each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// Close ends the client.
func (a *Agent) Close() { _ = a.session.Close() }

// Listed lists the tools that the session may see, as they are described.
func (a *Agent) Listed(ctx context.Context) ([]*mcp.Tool, error) {
	list, err := a.session.ListTools(ctx, nil)
	if err != nil {
		return nil, err
	}
	return list.Tools, nil
}

// Tools lists the names of the tools that the session may see.
func (a *Agent) Tools(ctx context.Context) ([]string, error) {
	tools, err := a.Listed(ctx)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(tools))
	for i, tool := range tools {
		names[i] = tool.Name
	}
	return names, nil
}

// Answer is what the daemon said to a call.
type Answer struct {
	IsError bool
	Text    string         // the text content, joined
	Output  map[string]any // structured content
	Entry   int64          // index of the log entry that records it, 0 for none
}

// Call calls a tool; invocation is the idempotency key, "" for none.
func (a *Agent) Call(ctx context.Context, tool, invocation string, args map[string]any) (Answer, error) {
	params := &mcp.CallToolParams{Name: tool, Arguments: args}
	if invocation != "" {
		params.Meta = mcp.Meta{"world/invocationId": invocation}
	}
	result, err := a.session.CallTool(ctx, params)
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{IsError: result.IsError}
	for _, content := range result.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			answer.Text += text.Text
		}
	}
	answer.Output, _ = result.StructuredContent.(map[string]any)
	index, _ := result.Meta["world/logIndex"].(float64)
	answer.Entry = int64(index)
	return answer, nil
}

// Effect returns a field of the only effect in the answer's world block, "" if absent.
func (a Answer) Effect(field string) string {
	world, _ := a.Output["world"].(map[string]any)
	effects, _ := world["effects"].([]any)
	if len(effects) != 1 {
		return ""
	}
	effect, _ := effects[0].(map[string]any)
	text, _ := effect[field].(string)
	return text
}

// Object reads an object's bytes over REST with the read token.
func (w *World) Object(ctx context.Context, ref string) ([]byte, error) {
	body, code, err := w.Get(ctx, "/v1/objects/"+ref+"?payload=true")
	if err != nil || code != http.StatusOK {
		return nil, fmt.Errorf("object %s: status %d: %w: %s", ref, code, err, oneLine(string(body)))
	}
	var object struct{ Payload []byte }
	err = json.Unmarshal(body, &object)
	return object.Payload, err
}

// Get reads a path over REST with the read token.
func (w *World) Get(ctx context.Context, path string) (body []byte, code int, err error) {
	token, err := os.ReadFile(filepath.Join(w.State(), "read-token"))
	if err != nil {
		return nil, 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.Daemon.Address+path, nil)
	if err != nil {
		return nil, 0, err
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(response.Body)
	return body, response.StatusCode, err
}

// Until polls a condition until it holds, and fails when patience ends.
func Until(what string, holds func() bool) error {
	deadline := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			return fmt.Errorf("waited %v for %s", patience, what)
		}
	}
	return nil
}
