package daemon

import (
	"net"
	"strconv"

	"world/fault"
)

// loopback names the hosts that may be bound, and the address each stands for.
// localhost is not looked up: a resolver could answer anything.
var loopback = map[string]string{"127.0.0.1": "127.0.0.1", "::1": "::1", "localhost": "127.0.0.1"}

// Bind is a loopback address that passed ParseBind.
type Bind struct{ address string }

// ParseBind accepts HOST:PORT where the host is exactly 127.0.0.1, ::1 or
// localhost, and the port 0 (any free one) to 65535. There is no override.
func ParseBind(text string) (Bind, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return Bind{}, fault.New("daemon: bind", fault.Invalid, "an address is HOST:PORT")
	}
	address, ok := loopback[host]
	if !ok {
		return Bind{}, fault.New("daemon: bind", fault.Denied, "the daemon binds to loopback only: 127.0.0.1, ::1 or localhost")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return Bind{}, fault.New("daemon: bind", fault.Invalid, "a port is 0 to 65535")
	}
	return Bind{net.JoinHostPort(address, port)}, nil
}

// Listen opens the listener.
func (b Bind) Listen() (net.Listener, error) { return net.Listen("tcp", b.address) }
