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
// snapshot admits.
func (s *surface) newServer(log zerolog.Logger, snapshot *coordinator.Snapshot) *sdk.Server {
	server := sdk.NewServer(
		&sdk.Implementation{Name: "ailang-worldd", Version: s.Version},
		&sdk.ServerOptions{
			Instructions: instructions + s.Notice,
			Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
			SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { *c = private },
		})
	tools := []*sdk.Tool{}
	for _, d := range snapshot.Visible() {
		tool, err := toolOf(d)
		if err != nil {
			log.Error().Err(err).Str("transition", string(d.ID)).Msg("a transition cannot be a tool and is not served")
			continue
		}
		server.AddTool(tool, (&call{s, log, snapshot, d.ID}).handle)
		tools = append(tools, tool)
	}
	server.AddReceivingMiddleware(listInOrder(tools))
	return server
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

// listInOrder answers tools/list whole, in byte order of transition ids; the SDK
// would sort by escaped names, and decode cursors that it never gave.
func listInOrder(tools []*sdk.Tool) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if method != "tools/list" {
				return next(ctx, method, req)
			}
			if p, ok := req.GetParams().(*sdk.ListToolsParams); ok && p != nil && p.Cursor != "" {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the cursor was not given by this server"}
			}
			return &sdk.ListToolsResult{Tools: tools, Cacheable: private}, nil
		}
	}
}
