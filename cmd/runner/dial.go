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

// dialer connects to the host of a URL unless guard forbids its address: audit authors choose
// the URL and read the answers in the report. Private addresses are permitted; NetworkPolicies
// restrict them further.
func dialer(endpoint string, guard netguard.Guard) (func(context.Context) (net.Conn, error), error) {
	to, err := url.Parse(endpoint)
	if err != nil {
		return nil, fmt.Errorf("read url: %w", err)
	}
	port := cmp.Or(to.Port(), map[string]string{"http": "80", "https": "443"}[to.Scheme])
	address := net.JoinHostPort(to.Hostname(), port)
	// Control sees the final address, so no name server can show one address and lead to
	// another.
	d := net.Dialer{Timeout: connectTimeout, Control: func(_, address string, _ syscall.RawConn) error { return permitted(guard, address) }}
	return func(ctx context.Context) (net.Conn, error) { return d.DialContext(ctx, "tcp", address) }, nil
}

// permitted returns an error if guard forbids an address.
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

// newGuard knows the API server's addresses from the plan and from the kubelet's environment
// variables.
func newGuard(apiServers []netip.Addr) netguard.Guard {
	if service, err := netip.ParseAddr(os.Getenv("KUBERNETES_SERVICE_HOST")); err == nil {
		apiServers = append(apiServers, service)
	}
	return netguard.Guard{APIServers: apiServers}
}
