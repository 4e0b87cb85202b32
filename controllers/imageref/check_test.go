package imageref

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/netguard"
)

func parsed(t *testing.T, registries Registries) rules {
	t.Helper()
	r, err := registries.parse()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestS4InternalIsForWhoNamesIt: a registry of somebody else's does not lead to one that
// the operator lists.
func TestS4InternalIsForWhoNamesIt(t *testing.T) {
	r := parsed(t, Registries{Internal: []string{"harbor.corp", "*.deep.corp:5000", "10.20.0.0/16"}, PlainHTTP: []string{"10.77.0.1:5000", "plain.corp"}})
	for _, test := range []struct{ registry, target, want string }{
		{"evil.example", "https://blobs.example/x", ""},
		{"evil.example", "https://harbor.corp/api", "internal registry"},
		{"evil.example", "https://HARBOR.corp:443/api", "internal registry"},
		{"evil.example", "https://a.deep.corp:5000/", "internal registry"},
		{"evil.example", "http://10.77.0.1:5000/", "internal registry"},
		{"evil.example", "http://blobs.example/", "plainHTTP"},
		{"harbor.corp", "https://a.deep.corp:5000/", ""},
		{"10.20.1.2:8443", "https://harbor.corp/token", ""},
		{"10.77.0.1:5000", "http://10.77.0.1:5000/v2/", ""},
		{"plain.corp", "http://plain.corp/v2/", ""},
		{"plain.corp", "http://plain.corp:8080/v2/", "plainHTTP"},
		{"harbor.corp", "http://harbor.corp/v2/", "plainHTTP"},
		{"harbor.corp", "file:///etc/passwd", "plainHTTP"},
	} {
		target, err := url.Parse(test.target)
		if err != nil {
			t.Fatal(err)
		}
		err = guarded{nil, &origin{rules: r, registry: test.registry}}.check(&http.Request{URL: target})
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s to %s: %v, want %q", test.registry, test.target, err, test.want)
		}
	}
}

// TestS4Permit decides about addresses, after names were resolved.
func TestS4Permit(t *testing.T) {
	r := parsed(t, Registries{Internal: []string{"harbor.corp", "127.0.0.1:5000", "10.20.0.0/16", "127.0.0.0/8", "169.254.0.0/16"}})
	guard := netguard.Guard{APIServers: []netip.Addr{netip.MustParseAddr("10.20.0.1")}}
	for _, test := range []struct {
		wanted, to string
		permitted  bool
	}{
		{"registry.example:443", "93.184.216.34:443", true},
		{"registry.example:443", "[64:ff9b::5db8:d822]:443", true},
		{"registry.example:443", "192.168.1.1:443", false},
		{"registry.example:443", "[::ffff:192.168.1.1]:443", false},
		{"registry.example:443", "10.20.3.4:443", true}, // a network is open to every registry
		{"registry.example:443", "10.20.0.1:443", false},
		{"harbor.corp:443", "192.168.1.1:443", true},
		{"harbor.corp:8443", "192.168.1.1:8443", false},
		{"harbor.corp:443", "169.254.169.254:443", false},
		{"harbor.corp:443", "10.20.0.1:443", false},
		{"harbor.corp:443", "127.0.0.1:443", false},
		{"127.0.0.1:5000", "127.0.0.1:5000", true},
		{"127.0.0.1:5001", "127.0.0.1:5001", false},
		{"harbor.corp:443", "nonsense", false},
	} {
		host, port, _ := net.SplitHostPort(test.wanted)
		asked := &origin{rules: r, registry: net.JoinHostPort(host, port)}
		if err := permit(asked, guard, test.wanted, test.to); (err == nil) != test.permitted {
			t.Errorf("%s at %s: %v, want permitted %t", test.wanted, test.to, err, test.permitted)
		}
	}
}

// TestR4NetworksAreForRegistriesInThem: an external registry leads to no address of an
// internal network, whatever its redirects and token servers resolve to.
func TestR4NetworksAreForRegistriesInThem(t *testing.T) {
	r := parsed(t, Registries{Internal: []string{"harbor.corp", "10.20.0.0/16"}})
	for _, test := range []struct {
		registry, wanted string
		inside           bool // the registry answered from the network
		permitted        bool
	}{
		{"evil.example", "token.evil.example:443", false, false},
		{"evil.example", "10.20.3.4:443", false, false},
		{"evil.example", "evil.example:8443", false, false},
		{"evil.example", "evil.example:443", false, true},
		{"Team.corp:5000", "team.corp:5000", false, true},
		{"team.corp:5000", "auth.corp:443", true, true},
		{"10.20.1.2:5000", "auth.corp:443", false, true},
		{"harbor.corp", "minio.corp:9000", false, true},
	} {
		asked := &origin{rules: r, registry: test.registry}
		asked.inside.Store(test.inside)
		if err := permit(asked, netguard.Guard{}, test.wanted, "10.20.3.4:443"); (err == nil) != test.permitted {
			t.Errorf("%s to %s: %v, want permitted %t", test.registry, test.wanted, err, test.permitted)
		}
	}
}
