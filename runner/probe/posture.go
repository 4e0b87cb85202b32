package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/transport"
)

// outsiderPatience bounds a request that belongs to no session, endPatience the end of a process that has not answered
// one.
const (
	outsiderPatience = 3 * time.Second
	endPatience      = 5 * time.Second
)

// unissued is the id of a session that no server has issued.
const unissued = "0f1c2d3e-4b5a-4697-8877-665544332211"

// outsider sends requests that belong to no session to a server that listens.
type outsider struct {
	transport.Asker
	session *session
	sse     bool
	port    string
	sites   []string
	target  string // see transport.Request
}

// outside returns an outsider; false if the server does not listen, or was asked in an earlier launch.
func (s *session) outside() (outsider, bool) {
	to := s.wire.conn.HTTP
	ask, _ := s.wire.under.(transport.Asker)
	if to == nil || ask == nil || s.options.Attack.FirstMark != 0 || s.advertised["tools"] == nil || s.options.Discover {
		return outsider{}, false
	}
	own, _ := url.Parse(to.URL) // by which the server has answered
	return outsider{
		Asker: ask, session: s, sse: to.Transport == report.TransportSSE, port: own.Port(),
		sites: sites(s.mark()),
	}, true
}

// askPages records whether the server answers web pages of other sites.
func (s *session) askPages(ctx context.Context) {
	o, ok := s.outside()
	if !ok {
		return
	}
	for _, site := range o.sites {
		if s.result.Posture.Origin == "" {
			s.result.Posture.Origin, s.result.Posture.How = o.page(ctx, site)
		}
	}
	if s.result.Posture.Origin == "" {
		s.result.Posture.Origin, s.result.Posture.How = o.from(ctx, opaque)
	}
}

// opaque is the Origin of a page in a sandboxed frame, which every site can have.
const opaque = "null"

// askSessions begins some sessions, and tries an id that was not issued. A server for a single session may end ours.
func (s *session) askSessions(ctx context.Context) {
	o, ok := s.outside()
	if !ok {
		return
	}
	for range attack.LeastSessions {
		if id := o.begin(ctx); id != "" {
			s.result.Posture.Sessions = append(s.result.Posture.Sessions, id)
		}
	}
	taken := func(id ...string) bool { return o.lists(ctx, http.Header{"Mcp-Session-Id": id}) }
	if len(s.result.Posture.Sessions) > 0 && !o.sse && !taken() && taken(unissued) {
		s.result.Posture.Unissued = unissued
	}
}

// send returns the reply to a request, and whether it is a success.
func (o outsider) send(ctx context.Context, method string, header http.Header, message map[string]any) (transport.Reply, bool) {
	ctx, cancel := context.WithTimeout(ctx, outsiderPatience)
	defer cancel()
	header = header.Clone()
	header.Set("Accept", "application/json, text/event-stream")
	r := transport.Request{Method: method, Target: o.target, Header: header}
	if message != nil {
		r.Body, _ = json.Marshal(message) // ours
	}
	reply, err := o.Ask(ctx, r)
	return reply, err == nil && reply.Status/100 == 2
}

// page returns the origin of a page of a site that the server answers, and in what way; "" if it answers none.
func (o outsider) page(ctx context.Context, site string) (origin, how string) {
	rebound := net.JoinHostPort(site, o.port)
	header := http.Header{"Host": {rebound}, "Origin": {"http://" + rebound}}
	if o.sse {
		if _, opens := o.send(ctx, http.MethodGet, header, nil); opens && o.takes(ctx, header) {
			return "http://" + rebound, attack.Rebound
		}
	}
	return o.from(ctx, "http://"+site)
}

// from returns an origin whose pages the server answers, and in what way; "" if it does not.
func (o outsider) from(ctx context.Context, origin string) (_, how string) {
	header := http.Header{"Origin": {origin}}
	if o.readable(ctx, origin) {
		return origin, attack.Readable
	}
	header.Set("Content-Type", "text/plain")
	if !o.sse && o.lists(ctx, header) {
		return origin, attack.Blind
	}
	return "", ""
}

// readable reports whether a page can begin a session and read the answers.
func (o outsider) readable(ctx context.Context, origin string) bool {
	header := http.Header{"Origin": {origin}}
	asked := header.Clone()
	asked.Set("Access-Control-Request-Method", http.MethodPost)
	asked.Set("Access-Control-Request-Headers", "content-type")
	allowed, ok := o.send(ctx, http.MethodOptions, asked, nil)
	ok = ok && shows(allowed, origin) && names(allowed, "Access-Control-Allow-Headers", "content-type")
	if o.sse {
		stream, opens := o.send(ctx, http.MethodGet, header, nil)
		return opens && shows(stream, origin) && ok && o.takes(ctx, header)
	}
	if !ok {
		return false
	}
	begun, ok := o.send(ctx, http.MethodPost, header, o.session.hello())
	if !ok || !shows(begun, origin) || !strings.Contains(string(begun.Body), `"serverInfo"`) {
		return false
	}
	return begun.Header.Get("Mcp-Session-Id") == "" ||
		names(begun, "Access-Control-Expose-Headers", "mcp-session-id") && names(allowed, "Access-Control-Allow-Headers", "mcp-session-id")
}

// shows reports whether a browser lets a page read a reply (CORS).
func shows(r transport.Reply, origin string) bool {
	return slices.Contains([]string{"*", origin}, r.Header.Get("Access-Control-Allow-Origin"))
}

// names reports whether a header of CORS lists a name, or all of them.
func names(r transport.Reply, header, name string) bool {
	for _, each := range strings.Split(strings.Join(r.Header.Values(header), ","), ",") {
		if each = strings.TrimSpace(each); each == "*" || strings.EqualFold(each, name) {
			return true
		}
	}
	return false
}

// takes reports whether the server accepts a notification.
func (o outsider) takes(ctx context.Context, header http.Header) bool {
	_, ok := o.send(ctx, http.MethodPost, header, map[string]any{
		"jsonrpc": "2.0", "method": methodCancelled, "params": map[string]any{"requestId": "none"},
	})
	return ok
}

// lists reports whether the server answers with its tools.
func (o outsider) lists(ctx context.Context, header http.Header) bool {
	reply, ok := o.send(ctx, http.MethodPost, header, map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
	return ok && strings.Contains(string(reply.Body), `"tools"`)
}

// inEndpoint finds the id of a session in the address for its messages.
var inEndpoint = lazyregexp.New(`(?i)[?&](?:session_?id|sid|id|client|session)=([^&\s]{1,256})`)

// begin begins a session, and returns its id.
func (o outsider) begin(ctx context.Context) string {
	if o.sse {
		stream, _ := o.send(ctx, http.MethodGet, http.Header{}, nil)
		if found := inEndpoint.FindStringSubmatch(string(stream.Body)); found != nil {
			return found[1]
		}
		return ""
	}
	begun, _ := o.send(ctx, http.MethodPost, http.Header{}, o.session.hello())
	return begun.Header.Get("Mcp-Session-Id")
}

// hello is the first message of a session.
func (s *session) hello() map[string]any {
	return map[string]any{"jsonrpc": "2.0", "id": 1, "method": methodInitialize, "params": s.introduction(cmp.Or(s.result.ProtocolVersion, s.revision()))}
}

// malformed are bodies that are not requests.
var malformed = []string{`{"jsonrpc":"2.0","id":1,"method":`, `null`, `[]`, `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`}

// sendMalformed sends the malformed bodies. It comes last, because the server may end.
func (s *session) sendMalformed(ctx context.Context) {
	o, ok := s.outside()
	if !ok {
		return
	}
	for _, body := range malformed {
		limited, cancel := context.WithTimeout(ctx, outsiderPatience)
		_, err := o.Ask(limited, transport.Request{Method: http.MethodPost, Header: http.Header{"Accept": {"application/json, text/event-stream"}}, Body: []byte(body)})
		cancel()
		if failed := (*transport.Error)(nil); !errors.As(err, &failed) {
			continue
		}
		select {
		case <-s.wire.conn.Exited:
			s.result.Posture.Ended = body
			return
		case <-time.After(endPatience):
		case <-ctx.Done():
			return
		}
	}
}
