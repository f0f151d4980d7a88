package mcp

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"world/canon"
	"world/coordinator"
	"world/fault"
	"world/store"
)

// callTime is how long a call may take from its arrival, waiting included. A
// durable effect is finished and recorded beyond it.
const callTime = 20 * time.Second

// Keys of _meta.
const (
	metaInvocation = "world/invocationId" // of request and answer
	metaEntry      = "world/logIndex"     // of an answer that is recorded
	metaReplayed   = "world/replayed"     // true when the answer is a stored one and nothing ran
)

// call is one tool of one request.
type call struct {
	surface    *surface
	log        zerolog.Logger
	snapshot   *coordinator.Snapshot
	transition store.TransitionID
}

// handle runs a call to its end, whether or not its client still waits. A broken
// invariant ends this call and not the daemon: the SDK runs it on a goroutine
// where nothing else would catch a panic.
func (c *call) handle(ctx context.Context, req *sdk.CallToolRequest) (result *sdk.CallToolResult, err error) {
	task, err := taskOf(req.Params.Meta)
	if err != nil {
		return refusal("", err), nil
	}
	defer func() {
		if broken := recover(); broken != nil {
			c.log.Error().Any("panic", broken).Bytes("stack", debug.Stack()).Str("task", task).Msg("a call broke an invariant")
			result, err = refusal(task, fault.New("mcp: call", fault.Internal, "")), nil
		}
	}()
	args, err := arguments(req.Params.Arguments)
	if err != nil {
		return refusal(task, err), nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	start := time.Now()
	c.log.Debug().Str("transition", string(c.transition)).Str("task", task).Msg("a call begins")
	reply, err := c.surface.Coordinator.Invoke(ctx, c.snapshot, coordinator.Call{
		Surface: store.SurfaceMCP, Transition: c.transition, Task: task, Args: args,
	})
	line := c.log.Info().Str("transition", string(c.transition)).Str("task", task).
		Str("episode", string(c.snapshot.Live().Record.Episode)).Dur("ms", time.Since(start))
	if err != nil {
		line.Err(err).Msg("a call was refused")
		if fault.Is(err, fault.NotFound) {
			// Admission may see more than the snapshot did, never in other words.
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %q", req.Params.Name)}
		}
		return refusal(task, err), nil
	}
	line.Int64("entry", reply.Entry.Index).Bool("failed", reply.Failed).Bool("replayed", reply.Replayed).Msg("a call is recorded")
	return answer(task, reply), nil
}

// taskOf reads the client's idempotency key, or draws one.
func taskOf(meta sdk.Meta) (string, error) {
	given, ok := meta[metaInvocation]
	if !ok {
		var b [16]byte
		rand.Read(b[:]) // never fails: the process would have ended
		return hex.EncodeToString(b[:]), nil
	}
	text, _ := given.(string)
	task, err := store.ParseTask(text)
	if err != nil {
		return "", fault.Wrap("mcp: call", fault.Invalid, err, "%s in _meta is a string of 1 to 128 bytes of A-Z a-z 0-9 . _ -", metaInvocation)
	}
	return task, nil
}

// arguments makes a call's arguments canonical; none, which some clients send as
// null, are an empty object.
func arguments(raw json.RawMessage) ([]byte, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return []byte("{}"), nil
	}
	return canon.Canonical(raw, canon.Limits{Pairs: true})
}

// answer is a recorded reply in the protocol's form.
func answer(task string, r coordinator.Reply) *sdk.CallToolResult {
	text := string(r.Output)
	if r.Failed {
		text = r.Message
	}
	meta := sdk.Meta{metaInvocation: task, metaEntry: r.Entry.Index}
	if r.Replayed {
		meta[metaReplayed] = true
	}
	return &sdk.CallToolResult{
		Meta: meta, IsError: r.Failed,
		Content:           []sdk.Content{&sdk.TextContent{Text: text}},
		StructuredContent: json.RawMessage(r.Output),
	}
}

// refusal is the answer to a call of which nothing is recorded. It is an answer of
// the tool and no protocol error, so that the agent reads it and not its client alone.
func refusal(task string, err error) *sdk.CallToolResult {
	kind, text := fault.KindOf(err), fault.Detail(err)
	switch kind {
	case fault.Internal, fault.Corrupt, fault.Uncertain:
		text = "the call failed inside; the cause is in the daemon's log"
	}
	if text == "" {
		text = kind.String()
	}
	meta := sdk.Meta{}
	if task != "" {
		meta[metaInvocation] = task
	}
	switch kind {
	case fault.Internal, fault.Corrupt, fault.Uncertain, fault.InFlight, fault.Timeout, fault.Unavailable:
		text += fmt.Sprintf(". Resend with %s %q to learn how it ended, or to have it done", metaInvocation, task)
	}
	output := canon.NewObject([]canon.Member{{Name: "error", Value: canon.NewObject([]canon.Member{
		{Name: "kind", Value: canon.NewString(kind.String())},
		{Name: "message", Value: canon.NewString(text)},
	})}})
	return &sdk.CallToolResult{
		Meta: meta, IsError: true,
		Content:           []sdk.Content{&sdk.TextContent{Text: kind.String() + ": " + text}},
		StructuredContent: json.RawMessage(output.Bytes()),
	}
}
