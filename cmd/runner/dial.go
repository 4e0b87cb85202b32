package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"syscall"
	"time"

	"github.com/mcpaudit/mcpaudit/api/netguard"
)

// connectTimeout bounds one attempt to connect.
const connectTimeout = 15 * time.Second

// dialer connects to the host of a URL, wherever its name leads, unless that is an
// address that guard forbids: whoever may create an audit chooses the URL, and reads in
// the report what was answered. Private addresses are permitted; NetworkPolicies narrow
// them down.
func dialer(endpoint string, guard netguard.Guard) (func(context.Context) (net.Conn, error), error) {
	to, err := url.Parse(endpoint)
	if err != nil {
		return nil, fmt.Errorf("read url: %w", err)
	}
	port := cmp.Or(to.Port(), map[string]string{"http": "80", "https": "443"}[to.Scheme])
	address := net.JoinHostPort(to.Hostname(), port)
	// Control sees the address that is connected to, so that no name server can
	// tell it one address and the kernel another.
	d := net.Dialer{Timeout: connectTimeout, Control: func(_, address string, _ syscall.RawConn) error { return permitted(guard, address) }}
	return func(ctx context.Context) (net.Conn, error) { return d.DialContext(ctx, "tcp", address) }, nil
}

// permitted returns why an address is not connected to, nil if it may be.
func permitted(guard netguard.Guard, address string) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("check address: %w", err)
	}
	if class, what := guard.Classify(to.Addr()); class >= netguard.Loopback {
		return fmt.Errorf("%s is not connected to: it is %s", to.Addr(), what)
	}
	return nil
}

// newGuard knows the API server by the addresses of the plan, and by the one that the
// kubelet tells every Pod.
func newGuard(apiServers []netip.Addr) netguard.Guard {
	if service, err := netip.ParseAddr(os.Getenv("KUBERNETES_SERVICE_HOST")); err == nil {
		apiServers = append(apiServers, service)
	}
	return netguard.Guard{APIServers: apiServers}
}
