package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"world/coordinator"
	"world/store/record"
)

const instructions = "Each tool is a transition that plans at most one effect, decided against this session's grants and recorded. " +
	"A call without the string world/invocationId in _meta is at-least-once; with one, resend the same id to learn how the call ended."

// newServer builds the server of one request: exactly the tools that its
// snapshot admits. They are not registered with the SDK, which would read every
// schema of them for a request that needs one tool or none.
func (s *surface) newServer(log zerolog.Logger, snapshot *coordinator.Snapshot) *sdk.Server {
	server := sdk.NewServer(
		&sdk.Implementation{Name: "ailang-worldd", Version: s.Version},
		&sdk.ServerOptions{
			Instructions: instructions + s.Notice,
			Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
			SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { *c = private },
		})
	server.AddReceivingMiddleware((&offer{s, log, snapshot}).serve)
	return server
}

// offer is what the tools of one request are made from.
type offer struct {
	surface  *surface
	log      zerolog.Logger
	snapshot *coordinator.Snapshot
}

// serve answers what is about tools, and leaves the rest to the SDK, which knows of
// no tool and so answers a call of another one.
func (o *offer) serve(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch req := req.(type) {
		case *sdk.ListToolsRequest:
			return o.list(req)
		case *sdk.CallToolRequest:
			if call := o.find(req.Params.Name); call != nil {
				return call.handle(ctx, req)
			}
		}
		return next(ctx, method, req)
	}
}

// list answers whole, in byte order of transition ids; the SDK would sort by escaped
// names, and decode cursors that it never gave.
func (o *offer) list(req *sdk.ListToolsRequest) (sdk.Result, error) {
	if req.Params != nil && req.Params.Cursor != "" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the cursor was not given by this server"}
	}
	tools := []*sdk.Tool{}
	for _, d := range o.snapshot.Visible() {
		if tool := o.tool(d); tool != nil {
			tools = append(tools, tool)
		}
	}
	return &sdk.ListToolsResult{Tools: tools, Cacheable: private}, nil
}

// find returns the call of a tool that list shows by this name, nil when there is none.
func (o *offer) find(name string) *call {
	for _, d := range o.snapshot.Visible() {
		if is, _ := toolName(d.ID); is == name && o.tool(d) != nil {
			return &call{o.surface, o.log, o.snapshot, d.ID}
		}
	}
	return nil
}

// tool is a transition as a tool, nil when it cannot be one.
func (o *offer) tool(d record.Descriptor) *sdk.Tool {
	tool, err := toolOf(d)
	if err != nil {
		o.log.Error().Err(err).Str("transition", string(d.ID)).Msg("a transition cannot be a tool and is not served")
		return nil
	}
	return tool
}

// private keeps an answer, which depends on grants, from every cache but the
// asking client's own, and is stale at once there.
var private = sdk.Cacheable{CacheScope: "private"}

// toolOf is a transition as a tool.
func toolOf(d record.Descriptor) (*sdk.Tool, error) {
	name, ok := toolName(d.ID)
	if !ok {
		return nil, badSchema("its name as a tool is longer than 64 bytes")
	}
	input, err := inputSchema(d.InputSchema)
	if err != nil {
		return nil, err
	}
	output, err := outputSchema(d.OutputSchema)
	if err != nil {
		return nil, err
	}
	return &sdk.Tool{
		Name: name, Title: d.Title, Description: d.Description, InputSchema: input, OutputSchema: output, Annotations: hintsOf(d),
	}, nil
}
