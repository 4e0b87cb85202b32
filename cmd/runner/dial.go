package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"syscall"
	"time"
)

// connectTimeout bounds one attempt to connect.
const connectTimeout = 15 * time.Second

// forbidden are the networks that a runner does not connect to: whoever may create
// an audit chooses the URL, and reads in the report what was answered. These hold
// what a Pod is trusted with because of where it runs.
var forbidden = []struct {
	netip.Prefix
	what string
}{
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local: clouds keep credentials there"},
	{netip.MustParsePrefix("fe80::/10"), "link-local"},
	{netip.MustParsePrefix("fd00:ec2::/32"), "where a cloud keeps credentials"},
	{netip.MustParsePrefix("fd20:ce::/32"), "where a cloud keeps credentials"},
	{netip.MustParsePrefix("100.100.100.200/32"), "where a cloud keeps credentials"},
	{netip.MustParsePrefix("168.63.129.16/32"), "where a cloud keeps its agent's secrets"},
	{netip.MustParsePrefix("127.0.0.0/8"), "the Pod itself"},
	{netip.MustParsePrefix("::1/128"), "the Pod itself"},
	{netip.MustParsePrefix("0.0.0.0/8"), "the Pod itself"},
	{netip.MustParsePrefix("::/128"), "the Pod itself"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("ff00::/8"), "multicast"},
}

// dialer connects to the host of a URL, wherever its name leads, but not to what is
// forbidden.
func dialer(endpoint string) (func(context.Context) (net.Conn, error), error) {
	to, err := url.Parse(endpoint)
	if err != nil {
		return nil, fmt.Errorf("read url: %w", err)
	}
	port := to.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[to.Scheme]
	}
	address := net.JoinHostPort(to.Hostname(), port)
	// Control sees the address that is connected to, so that no name server can
	// tell it one address and the kernel another.
	d := net.Dialer{Timeout: connectTimeout, Control: func(_, address string, _ syscall.RawConn) error { return permitted(address) }}
	return func(ctx context.Context) (net.Conn, error) { return d.DialContext(ctx, "tcp", address) }, nil
}

// permitted tells why an address is not connected to, nil if it may be.
func permitted(address string) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("check address: %w", err)
	}
	ip := to.Addr().WithZone("").Unmap()
	for _, f := range forbidden {
		if f.Contains(ip) {
			return fmt.Errorf("%s is not connected to: it is %s", ip, f.what)
		}
	}
	// The kubelet tells every Pod where the API server is.
	if api, err := netip.ParseAddr(os.Getenv("KUBERNETES_SERVICE_HOST")); err == nil && api == ip {
		return fmt.Errorf("%s is not connected to: it is the API server", ip)
	}
	return nil
}
