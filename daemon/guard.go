package daemon

import (
	"net"
	"net/http"
	"strconv"
	"strings"

	"world/daemon/rest"
)

// scheme is the only one served.
const scheme = "http"

// Guard refuses requests that a page of another site could have caused: those
// whose Host is not a name of this listener, and those whose Origin, when sent,
// is not exactly the scheme and host that were asked. A name that an attacker
// points at loopback fails the first, a page of any other origin the second.
func Guard(listener net.Addr, next http.Handler) http.Handler {
	hosts := ownHosts(listener)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := strings.ToLower(r.Host)
		if !hosts[host] {
			rest.Refuse(w, rest.Forbidden, "the Host header does not name this daemon")
			return
		}
		if origins, sent := r.Header["Origin"]; sent && (len(origins) != 1 || origins[0] != scheme+"://"+host) {
			rest.Refuse(w, rest.Forbidden, "the Origin header is not this daemon's own")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ownHosts lists the values of Host that mean this listener: the loopback names
// and the bound address, each with the bound port.
func ownHosts(listener net.Addr) map[string]bool {
	tcp, ok := listener.(*net.TCPAddr)
	if !ok {
		panic("daemon: a listener that is not TCP")
	}
	port := strconv.Itoa(tcp.Port)
	hosts := map[string]bool{net.JoinHostPort(tcp.IP.String(), port): true}
	for name := range loopback {
		hosts[net.JoinHostPort(name, port)] = true
	}
	return hosts
}
