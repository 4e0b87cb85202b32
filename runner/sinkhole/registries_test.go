package sinkhole

import (
	"strings"
	"testing"
)

// TestRegistry: whoever looks for an update asks which versions there are; a package, an account, or
// anything in a query or a body is more.
func TestRegistry(t *testing.T) {
	for request, versions := range map[string]bool{
		"GET /pypi/fastmcp/json HTTP/1.1":                   true,
		"GET /simple/mcp-server/ HTTP/1.1":                  true,
		"GET /@scope%2fserver HTTP/1.1":                     true,
		"GET /server/latest HTTP/2.0":                       true,
		"GET /-/package/@scope%2Fserver/dist-tags HTTP/1.1": true,
		"POST /pypi/fastmcp/json HTTP/1.1":                  false,
		"GET /pypi/fastmcp/json?of=me HTTP/1.1":             false,
		"GET /server/-/server-1.0.0.tgz HTTP/1.1":           false,
		"GET /-/whoami HTTP/1.1":                            false,
		"GET /packages/x-1.0-py3-none-any.whl HTTP/1.1":     false,
		"client hello": false,
		"GET /" + strings.Repeat("x", 65) + "/json HTTP/1.1": false,
	} {
		c := Capture{Host: "pypi.org", Named: "pypi.org", Protocol: "https", Request: request, Size: 1}
		if host, asked := c.Registry(); host != "pypi.org" || (asked == request) != versions {
			t.Errorf("%s: %q, %q", request, host, asked)
		}
	}
	long := Capture{Host: "pypi.org", Named: "pypi.org", Protocol: "https", Request: "GET /pypi/fastmcp/json HTTP/1.1", Size: 64 << 10}
	if host, asked := long.Registry(); host != "pypi.org" || asked != "" {
		t.Errorf("a request of 64 KiB: %q, %q", host, asked)
	}
	for _, c := range []Capture{{Host: "pypi.org", Named: "evil.test", Size: 1}, {Named: "pypi.org"}, {Named: "pypi.org", Protocol: "dns", Size: 9}} {
		if host, _ := c.Registry(); host != "" {
			t.Errorf("%+v is of %s", c, host)
		}
	}
}
