package imageref

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mcpaudit/mcpaudit/api/netguard"
)

// Registries are named by tenants, who may have no network of their own. What they name,
// and what it redirects to, is connected to only if guard permits it.

// maxBody is the most bytes that are read of one answer. Manifests and configs
// are far smaller; a registry is named by a tenant and may send anything, and the
// workers read it, and decode it, at the same time.
const maxBody = 2 << 20

// maxRedirects bounds the redirects of one request. Registries need one, to where their
// blobs are stored.
const maxRedirects = 5

// connectTimeout bounds one attempt to connect.
const connectTimeout = 15 * time.Second

// errLarge says that an answer is no manifest and no config.
var errLarge = errors.New("answer is too large")

// refusal is a request that was not made.
type refusal struct{ why string }

func (r *refusal) Error() string { return r.why }

// newTransport makes the transport of one question. It uses no proxy: one would resolve
// names and connect where the guard cannot see it. Questions share no connections: one that
// is open is used again without asking permit.
func newTransport(asked *origin, guard netguard.Guard) *http.Transport {
	guard.Private = slices.Concat(guard.Private, asked.private)
	return &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			d := net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second, Control: func(_, to string, _ syscall.RawConn) error {
				return permit(asked, guard, address, to)
			}}
			return d.DialContext(ctx, network, address)
		},
		ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second, ExpectContinueTimeout: time.Second,
		MaxIdleConnsPerHost: 4, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}
}

// origin is the registry that a question asks.
type origin struct {
	rules
	// registry is its "host[:port]".
	registry string
	// inside: it answered from an internal network.
	inside atomic.Bool
}

// isAt reports whether a request to "host:port" goes to the registry itself.
func (o *origin) isAt(address string) bool {
	return slices.ContainsFunc(o.addresses(), func(own string) bool { return strings.EqualFold(own, address) })
}

// isListed reports whether the operator lists the registry, by its name or by its address.
func (o *origin) isListed() bool {
	host, err := netip.ParseAddr((&url.URL{Host: o.registry}).Hostname())
	return slices.ContainsFunc(o.addresses(), o.isInternal) || err == nil && o.isInside(host)
}

func (o *origin) addresses() []string {
	return []string{hostPort(&url.URL{Scheme: "https", Host: o.registry}), hostPort(&url.URL{Scheme: "http", Host: o.registry})}
}

// permit decides about the address that a socket is about to connect to; wanted is the
// "host:port" of the request, whose name has been resolved by then. An internal network is
// for registries in it and for what these lead to.
func permit(asked *origin, guard netguard.Guard, wanted, to string) error {
	resolved, err := netip.ParseAddrPort(to)
	if err != nil {
		return &refusal{"its address cannot be read"}
	}
	address := resolved.Addr().WithZone("").Unmap()
	class, what := guard.Classify(address)
	literal, _ := netip.ParseAddrPort(wanted)
	switch {
	case class == netguard.Public,
		class == netguard.Private && asked.isInternal(wanted),
		class == netguard.Private && asked.isInside(address) && (asked.isAt(wanted) || asked.isListed() || asked.inside.Load()),
		// No name leads to the manager itself, unless the operator spells the address out.
		class == netguard.Loopback && literal == resolved && asked.isInternal(wanted):
		return nil
	case class == netguard.Private && asked.isInside(address):
		return &refusal{"it leads to an internal network"}
	case class == netguard.Private:
		return &refusal{"it has " + what + " and is not listed in registries.internal of the operator's configuration"}
	}
	return &refusal{"it has the address of " + what}
}

// guarded makes the requests of one question.
type guarded struct {
	http.RoundTripper
	*origin
}

// RoundTrip implements http.RoundTripper.
func (g guarded) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := g.check(request); err != nil {
		return nil, err
	}
	var from net.Addr
	traced := httptrace.WithClientTrace(request.Context(), &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) { from = got.Conn.RemoteAddr() }})
	response, err := g.RoundTripper.RoundTrip(request.WithContext(traced))
	if err != nil {
		return nil, err
	}
	if peer, ok := from.(*net.TCPAddr); ok && g.isAt(hostPort(request.URL)) && g.isInside(peer.AddrPort().Addr().WithZone("").Unmap()) {
		g.inside.Store(true)
	}
	// A HEAD of a layer may announce any length; only a body is read.
	if request.Method != http.MethodHead && response.ContentLength > maxBody {
		_ = response.Body.Close()
		return nil, fmt.Errorf("%w: it has %d bytes, and at most %d are read", errLarge, response.ContentLength, maxBody)
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(response.Body, maxBody), response.Body}
	return response, nil
}

// check decides about a request before its host is resolved.
func (g guarded) check(request *http.Request) error {
	redirects := 0
	for r := request; r.Response != nil && r.Response.Request != nil; r = r.Response.Request {
		if redirects++; redirects > maxRedirects {
			return &refusal{fmt.Sprintf("it redirects more than %d times", maxRedirects)}
		}
		if from := r.Response.Request.URL; from.Scheme != r.URL.Scheme {
			return &refusal{"it redirects from " + from.Scheme + " to another scheme"}
		}
	}
	target := hostPort(request.URL)
	switch {
	case request.URL.Scheme != "https" && !(request.URL.Scheme == "http" && listed(g.plain, target)):
		return &refusal{"it speaks no TLS and is not listed in registries.plainHTTP of the operator's configuration"}
	// An internal registry is for whoever names it, not for where another one leads.
	case g.isInternal(target) && !g.isListed() && !g.inside.Load():
		return &refusal{"it leads to an internal registry"}
	}
	return nil
}

// hostPort returns the "host:port" of a URL, as a transport dials it.
func hostPort(u *url.URL) string {
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme]))
}
