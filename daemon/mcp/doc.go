// Package mcp serves the transitions of a session as tools of the Model Context
// Protocol, revisions 2026-07-28 and 2025-11-25 and the older ones that the
// official SDK knows, over streamable HTTP without protocol sessions.
//
// It promises that one snapshot of registry and grants, taken once a request,
// both lists and admits: a tool is listed exactly when a call to it is admitted,
// and a tool that is absent and one that may not be seen get the same answer,
// byte for byte. It promises that a list is never marked cacheable beyond the
// client that asked, that every body has passed package gate, and that a call
// goes on when its client goes away.
//
// A client names a call with the string "world/invocationId" in the request's
// _meta: 1 to 128 bytes of A-Z a-z 0-9 . _ -. The same id with the same tool and
// arguments answers the stored result and runs nothing; with others it is refused
// (D12). Each answer carries the id in its _meta. Without one the call gets a
// random id: such calls are at-least-once, because a lost answer cannot be asked
// for again.
//
// It does not promise MCP authorization (no protected-resource metadata): the
// bearer credential is World's own. Server-initiated requests, prompts and
// resources are not served.
package mcp
