package probe

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/transport"
)

// knock notes how a server that refuses to begin a session without a token answers nevertheless.
func (s *session) knock(ctx context.Context) {
	to := s.wire.conn.HTTP
	ask, _ := s.wire.under.(transport.Asker)
	if !s.options.Knock || to == nil || ask == nil || to.Transport != report.TransportStreamableHTTP {
		return
	}
	own, _ := url.Parse(to.URL) // by which the server has answered
	at := func(target string) outsider { return outsider{Asker: ask, session: s, target: target} }
	if reply, _ := at("").send(ctx, http.MethodPost, http.Header{}, s.hello()); reply.Status != http.StatusUnauthorized && reply.Status != http.StatusForbidden {
		return
	}
	for _, path := range spellings(own.EscapedPath()) {
		if at(path).begins(ctx, http.Header{}) {
			s.result.Posture.Evaded = "at " + path
			return
		}
	}
	for _, header := range s.credulous(ctx, at("")) {
		if at("").begins(ctx, header) {
			s.result.Posture.Evaded = "with a header that anybody can send"
			return
		}
	}
	if at("").lists(ctx, http.Header{}) {
		s.result.Posture.Evaded = "for the list of tools"
	}
}

// spellings are other ways to write a path, which a router may treat alike and a check may not.
func spellings(path string) (all []string) {
	last := len(path) - 1
	if last < 1 {
		return nil
	}
	for _, each := range []string{
		strings.TrimSuffix(path, "/") + "/", strings.TrimSuffix(path, "/"), "/" + path, strings.ToUpper(path), path + "?a=1", path + ";a=1",
		path[:last] + fmt.Sprintf("%%%02X", path[last]), "/." + path, "/a/.." + path, "/",
	} {
		if each != path {
			all = append(all, each)
		}
	}
	return all
}

// credulous returns headers that a bad check accepts: those of a proxy on the same machine, and as tokens the names of
// unset variables and of what each object of JavaScript has, unless the server passes every token on.
func (s *session) credulous(ctx context.Context, o outsider) (all []http.Header) {
	all = append(all, http.Header{"X-Forwarded-For": {"127.0.0.1"}, "X-Real-Ip": {"127.0.0.1"}})
	if o.begins(ctx, http.Header{"Authorization": {"Bearer " + s.mark().ID()}}) {
		return all
	}
	for _, token := range []string{"undefined", "null", "None", "", "constructor", "__proto__"} {
		all = append(all, http.Header{"Authorization": {"Bearer " + token}})
	}
	return all
}

// begins reports whether a request begins a session.
func (o outsider) begins(ctx context.Context, header http.Header) bool {
	reply, ok := o.send(ctx, http.MethodPost, header, o.session.hello())
	return ok && strings.Contains(string(reply.Body), `"serverInfo"`)
}
