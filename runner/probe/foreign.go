package probe

import (
	"context"
	"net"
	"net/http"
	"net/url"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// askForeign asks a server that listens as a web page of another site does, to which DNS has led the name of
// that site: with Host and Origin of it. Where a second session as such a page is refused, and one as ours is not,
// the server looks at them only there. The error is one that ends the session.
func (s *session) askForeign(ctx context.Context) error {
	to := s.wire.conn.HTTP
	if to == nil || to.Transport != report.TransportStreamableHTTP || s.options.Attack.FirstMark != 0 || s.advertised["tools"] == nil {
		return nil
	}
	own, _ := url.Parse(to.URL) // by which the server has answered
	for _, site := range sites(s.mark()) {
		if err := s.askAs(ctx, net.JoinHostPort(site, own.Port())); err != nil || s.result.Posture.Origin != "" {
			return err
		}
	}
	return nil
}

// askAs asks as a page of a host does.
func (s *session) askAs(ctx context.Context, host string) error {
	page := http.Header{"Host": {host}, "Origin": {"http://" + host}}
	answered, err := s.answersAs(ctx, page, "tools/list", nil)
	if err != nil || !answered {
		return onlyFatal(err)
	}
	if !s.options.Discover {
		params := s.introduction(s.result.ProtocolVersion)
		begins, err := s.answersAs(ctx, page, methodInitialize, params)
		if err == nil && !begins {
			var guarded bool
			guarded, err = s.answersAs(ctx, http.Header{}, methodInitialize, params)
			answered = !guarded
		}
		if err != nil {
			return onlyFatal(err)
		}
	}
	if answered {
		s.result.Posture.Origin, s.result.Posture.How = page.Get("Origin"), attack.Rebound
	}
	return nil
}

// answersAs reports whether a request with other headers has a result.
func (s *session) answersAs(ctx context.Context, header http.Header, method string, params map[string]any) (bool, error) {
	_, err := s.ask(ctx, query{phase: report.PhaseCall, of: server, method: method, params: params, limit: s.patience(s.options.CallTimeout), aside: header})
	if _, refused := refusal(err); refused {
		return false, nil
	}
	return err == nil, err
}

// sites are hosts of web pages of other sites. The names of the last two begin like this machine,
// which bad checks accept.
func sites(m inputs.Mark) []string {
	return []string{m.Host(), "localhost." + m.Host(), "127.0.0.1." + m.Host()}
}
