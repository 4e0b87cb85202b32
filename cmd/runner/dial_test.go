package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

// TestL4PermittedAddresses: no spelling of an address leads to what is refused.
func TestL4PermittedAddresses(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")
	guard := newGuard([]netip.Addr{netip.MustParseAddr("172.18.0.2")})
	for address, want := range map[string]string{
		"93.184.216.34:443":            "",
		"10.96.7.7:8080":               "",
		"[2606:2800:220:1::1]:443":     "",
		"169.254.169.254:80":           "link-local",
		"[::ffff:169.254.169.254]:80":  "link-local",
		"[fe80::1%eth0]:80":            "link-local",
		"[fd00:ec2::254]:80":           "metadata",
		"100.100.100.200:80":           "metadata",
		"127.0.0.1:80":                 "the Pod itself",
		"[::1]:80":                     "the Pod itself",
		"0.0.0.0:80":                   "the Pod itself",
		"[::]:80":                      "the Pod itself",
		"224.0.0.1:80":                 "multicast",
		"10.96.0.1:443":                "the API server",
		"[::ffff:10.96.0.1]:443":       "the API server",
		"172.18.0.2:6443":              "the API server",
		"[64:ff9b::a9fe:a9fe]:80":      "link-local",
		"[64:ff9b:1::a9fe:a9fe]:80":    "NAT64",
		"[2002:a9fe:a9fe::1]:80":       "6to4",
		"[64:ff9b::10.96.0.1]:443":     "the API server",
		"[64:ff9b::172.18.0.2]:6443":   "the API server",
		"[64:ff9b::93.184.216.34]:443": "",
		"metadata.google.internal.:80": "check address",
	} {
		err := permitted(guard, address)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("permitted(%s) = %v, want %q", address, err, want)
		}
	}
}

// TestDialerLooksBehindNames: a name leads to an address that is refused.
func TestDialerLooksBehindNames(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	dial, err := dialer("http://localhost:"+port+"/mcp", newGuard(nil))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := dial(t.Context())
	if err == nil {
		_ = conn.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "the Pod itself") {
		t.Errorf("dialled localhost: %v", err)
	}
}
