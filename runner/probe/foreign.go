package probe

import (
	"context"
	"net"
	"net/http"
	"net/url"

	"github.com/mcpaudit/mcpaudit/api/report"
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
	host := net.JoinHostPort(s.mark().Host(), own.Port())
	page := http.Header{"Host": {host}, "Origin": {"http://" + host}}
	answered, err := s.answersAs(ctx, page, "tools/list", nil)
	if err != nil || !answered {
		return onlyFatal(err)
	}
	if !s.options.Discover {
		params := map[string]any{"protocolVersion": s.result.ProtocolVersion, "capabilities": capabilities, "clientInfo": s.clientInfo()}
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
		s.result.Foreign = page.Get("Origin")
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
