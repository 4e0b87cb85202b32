package probe

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
)

// TestSessionIDs: the ids of sessions are collected, and who takes one that was never given is told from who
// knows no sessions.
func TestSessionIDs(t *testing.T) {
	for name, tc := range map[string]struct {
		given            func(n int64) string
		strict           bool
		guessed, unasked bool
	}{
		"counted":           {func(n int64) string { return "s-" + strconv.FormatInt(n, 10) }, true, true, false},
		"any id is taken":   {func(n int64) string { return strconv.FormatInt(n*7919000, 10) }, false, false, true},
		"ids that are kept": {func(n int64) string { return strconv.FormatInt(n*7919000, 10) }, true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			var sessions atomic.Int64
			serve := (&fake{}).overHTTP(false, nil)
			handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				text, _ := io.ReadAll(r.Body)
				var m struct{ Method string }
				_ = json.Unmarshal(text, &m) // ours
				id := r.Header.Get("Mcp-Session-Id")
				switch {
				case r.Header.Get("Origin") != "":
					w.WriteHeader(http.StatusForbidden)
					return
				case m.Method == methodInitialize:
					w.Header().Set("Mcp-Session-Id", tc.given(sessions.Add(1)))
				case id == "" || id == unissued && tc.strict:
					w.WriteHeader(http.StatusNotFound)
					return
				}
				r.Body = io.NopCloser(bytes.NewReader(text))
				serve(w, r)
			})
			o := quick
			o.Attack = &attack.Plan{}
			got := probeHTTP(t, handler, report.TransportStreamableHTTP, "/mcp", o).Posture
			if got.Origin != "" || got.Guessable() != tc.guessed || (got.Unissued != "") != tc.unasked {
				t.Errorf("%+v, want guessable %v, unissued %v", got, tc.guessed, tc.unasked)
			}
		})
	}
}

// TestMalformed: that a body which is no request ends the server is told, and one that is refused is not.
func TestMalformed(t *testing.T) {
	for name, ends := range map[string]bool{"ends": true, "refuses": false} {
		t.Run(name, func(t *testing.T) {
			exited := make(chan struct{})
			exit := sync.OnceFunc(func() { close(exited) })
			serve := (&fake{}).overHTTP(false, nil)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				text, _ := io.ReadAll(r.Body)
				if r.Method == http.MethodPost && slices.Contains(malformed, string(text)) {
					if !ends {
						w.WriteHeader(http.StatusBadRequest)
						return
					}
					exit()
					panic(http.ErrAbortHandler)
				}
				r.Body = io.NopCloser(bytes.NewReader(text))
				serve(w, r)
			}))
			t.Cleanup(server.Close)
			o := quick
			o.Attack = &attack.Plan{}
			got, err := Run(t.Context(), Conn{Exited: exited, HTTP: &HTTP{Transport: report.TransportStreamableHTTP, URL: server.URL + "/mcp"}}, o)
			if err != nil || (got.Posture.Ended != "") != ends {
				t.Errorf("ended at %q, want %v: %v", got.Posture.Ended, ends, err)
			}
		})
	}
}

// TestKnock: a server that demands a token is asked in other ways, unless it accepts any token.
func TestKnock(t *testing.T) {
	for name, tc := range map[string]struct {
		open func(r *http.Request) bool
		want string
	}{
		"everywhere":                          {func(*http.Request) bool { return false }, ""},
		"at one spelling":                     {func(r *http.Request) bool { return r.URL.Path != "/mcp" }, "at /mcp/"},
		"in capital letters":                  {func(r *http.Request) bool { return r.URL.Path == "/MCP" }, "at /MCP"},
		"encoded":                             {func(r *http.Request) bool { return r.RequestURI == "/mc%70" }, "at /mc%70"},
		"for a proxy":                         {func(r *http.Request) bool { return r.Header.Get("X-Forwarded-For") != "" }, "with a header that anybody can send"},
		"for no variable":                     {func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer undefined" }, "with a header that anybody can send"},
		"by the name of what each object has": {func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer constructor" }, "with a header that anybody can send"},
		"for any token":                       {func(r *http.Request) bool { return strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			serve := (&fake{on: map[string]func(*fake, map[string]any) any{methodInitialize: func(*fake, map[string]any) any {
				return map[string]any{"protocolVersion": newest, "capabilities": map[string]any{}, "serverInfo": map[string]any{"name": "desk", "version": "1"}}
			}}}).overHTTP(false, nil)
			handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !tc.open(r) {
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				serve(w, r)
			})
			o := quick
			o.Knock = true
			if got := probeHTTP(t, handler, report.TransportStreamableHTTP, "/mcp", o).Posture.Evaded; got != tc.want {
				t.Errorf("evaded %q, want %q", got, tc.want)
			}
			o.Discover = true // as after a refusal of initialize
			if got := probeHTTP(t, handler, report.TransportStreamableHTTP, "/mcp", o).Posture.Evaded; tc.want != "" && got != tc.want {
				t.Errorf("evaded %q without a handshake, want %q", got, tc.want)
			}
			o.Knock = false
			if got := probeHTTP(t, handler, report.TransportStreamableHTTP, "/mcp", o).Posture.Evaded; got != "" {
				t.Errorf("evaded %q without being asked", got)
			}
		})
	}
}
