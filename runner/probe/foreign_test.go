package probe

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
)

// TestForeign: a web page of another site is answered where neither Host nor Origin is looked at, be it that
// there is one session only; whoever looks at one of them, also if only when a session begins, has a guard.
func TestForeign(t *testing.T) {
	ours := func(r *http.Request) bool {
		return strings.HasPrefix(r.Host, "localhost:") || strings.HasPrefix(r.Host, "127.0.0.1:")
	}
	for name, tc := range map[string]struct {
		// refused is the status of what is refused.
		refused func(r *http.Request, method string, sessions int64) int
		// typed: content that is no JSON is refused. readable: pages may read.
		typed, readable bool
		want            string
	}{
		"all are answered": {func(*http.Request, string, int64) int { return 0 }, true, false, attack.Rebound},
		"an origin is refused": {func(r *http.Request, _ string, _ int64) int {
			if r.Header.Get("Origin") != "" {
				return http.StatusForbidden
			}
			return 0
		}, true, false, ""},
		"a host is nowhere": {func(r *http.Request, _ string, _ int64) int {
			if !ours(r) {
				return http.StatusNotFound
			}
			return 0
		}, true, false, ""},
		"a session is refused": {func(r *http.Request, method string, _ int64) int {
			if !ours(r) && method == methodInitialize {
				return http.StatusForbidden
			}
			return 0
		}, true, false, ""},
		"a host is nowhere, pages are answered as text": {func(r *http.Request, _ string, _ int64) int {
			if !ours(r) {
				return http.StatusNotFound
			}
			return 0
		}, false, false, attack.Blind},
		"a host is nowhere, pages may read": {func(r *http.Request, _ string, _ int64) int {
			if !ours(r) {
				return http.StatusNotFound
			}
			return 0
		}, true, true, attack.Readable},
		"an origin is refused, except that of a frame": {func(r *http.Request, _ string, _ int64) int {
			if origin := r.Header.Get("Origin"); origin != "" && origin != "null" {
				return http.StatusForbidden
			}
			return 0
		}, true, true, attack.Readable},
		"a host begins with an address": {func(r *http.Request, _ string, _ int64) int {
			if !strings.HasPrefix(r.Host, "127.0.0.1") && !strings.HasPrefix(r.Host, "localhost:") {
				return http.StatusForbidden
			}
			return 0
		}, true, false, attack.Rebound},
		"one session only": {func(_ *http.Request, method string, sessions int64) int {
			if method == methodInitialize && sessions > 1 {
				return http.StatusBadRequest
			}
			return 0
		}, true, false, attack.Rebound},
	} {
		t.Run(name, func(t *testing.T) {
			var sessions atomic.Int64
			serve := (&fake{}).overHTTP(false, nil)
			handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if tc.readable {
					w.Header().Set("Access-Control-Allow-Origin", "*")
					w.Header().Set("Access-Control-Allow-Headers", "content-type")
				}
				if r.Method == http.MethodOptions {
					return
				}
				if tc.typed && r.Method == http.MethodPost && r.Header.Get("Content-Type") != "application/json" {
					w.WriteHeader(http.StatusUnsupportedMediaType)
					return
				}
				text, _ := io.ReadAll(r.Body)
				var m struct{ Method string }
				_ = json.Unmarshal(text, &m) // ours
				if m.Method == methodInitialize {
					sessions.Add(1)
				}
				if status := tc.refused(r, m.Method, sessions.Load()); status != 0 {
					w.WriteHeader(status)
					return
				}
				r.Body = io.NopCloser(bytes.NewReader(text))
				serve(w, r)
			})
			o := quick
			o.Attack = &attack.Plan{}
			r := probeHTTP(t, handler, report.TransportStreamableHTTP, "/mcp", o)
			if r.Posture.How != tc.want || r.Incomplete.Reason != "" || len(r.Attempts) == 0 {
				t.Errorf("answered %q, want %q: %+v, %d attempts", r.Posture.How, tc.want, r.Incomplete, len(r.Attempts))
			}
		})
	}
}
