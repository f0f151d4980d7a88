package daemon

import (
	"net/http"

	"world/daemon/rest"
)

// Door says what a request must show before its route sees it.
type Door string

const (
	DoorRead    Door = "read token"         // checked here, unless reads are open
	DoorSession Door = "session credential" // checked by the surface, which answers in its protocol's words
)

// Route is one line of the route table.
type Route struct {
	Pattern string // method and path, as http.ServeMux reads them
	Door    Door
	Handler http.Handler
}

// Surfaces are the rooms that the routes lead to.
type Surfaces struct {
	Reads   *rest.Reads
	Commits http.Handler
	MCP     http.Handler
}

// Routes is the whole table: what is not in it is not served.
func Routes(s Surfaces) []Route {
	return []Route{
		{"GET /v1/health", DoorRead, http.HandlerFunc(s.Reads.Health)},
		{"GET /v1/head", DoorRead, http.HandlerFunc(s.Reads.Head)},
		{"GET /v1/log", DoorRead, http.HandlerFunc(s.Reads.Log)},
		{"GET /v1/log/{index}", DoorRead, http.HandlerFunc(s.Reads.LogEntry)},
		{"GET /v1/objects/{ref}", DoorRead, http.HandlerFunc(s.Reads.Object)},
		{"GET /v1/receipts/{id}", DoorRead, http.HandlerFunc(s.Reads.Receipt)},
		{"POST /v1/commit", DoorSession, s.Commits},
		{"POST /mcp", DoorSession, s.MCP},
		{"POST /mcp/{$}", DoorSession, s.MCP},
	}
}

// Mux serves the table. A path of the table with another method is 405. A nil
// token opens the reads to whoever reaches the port.
func Mux(routes []Route, token *rest.Token) *http.ServeMux {
	mux := http.NewServeMux()
	for _, route := range routes {
		handler := route.Handler
		if route.Door == DoorRead && token != nil {
			handler = token.Protect(handler)
		}
		mux.Handle(route.Pattern, handler)
	}
	return mux
}
