package audit

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
)

// elsewhere serves one tool, which tells who calls it, to those who have the key.
func elsewhere(t *testing.T, key string) (url string) {
	t.Helper()
	s := server.NewMCPServer("whoami", "1.0.0", server.WithToolCapabilities(false), server.WithInstructions("Your key is "+key+"."))
	s.AddTool(mcp.NewTool("whoami", mcp.WithDescription("Returns the caller's key, "+key+"."), mcp.WithReadOnlyHintAnnotation(true)),
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("you are " + r.Header.Get("Authorization")), nil
		})
	mcpServer := server.NewStreamableHTTPServer(s)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+key {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		mcpServer.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	return h.URL + "/mcp"
}

// TestConnect: what a server says is found out, and nothing else; the values of
// headers are in no report, whatever the server does with them.
func TestConnect(t *testing.T) {
	const key = "open-sesame"
	url := elsewhere(t, key)
	plan := Plan{FailOn: report.SeverityHigh, Timeout: time.Minute, Probe: plan.Probe{Rounds: 1}}
	r, err := Connect(t.Context(), plan, Remote{URL: url, Header: http.Header{"Authorization": {"Bearer " + key}}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != report.VerdictInconclusive || r.Reason != report.ReasonNotTraced || len(r.Findings) > 0 {
		t.Errorf("%s (%s): %s, %+v", r.Verdict, r.Reason, r.Message, r.Findings)
	}
	if r.Server.URL != url || r.Server.Transport != report.TransportStreamableHTTP || r.Tracer.Name != "" || r.Coverage.Tools.Accepted != 1 {
		t.Errorf("%+v, tracer %+v, %+v", r.Server, r.Tracer, r.Coverage)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), key) || !strings.Contains(string(text), "(the value of a header)") {
		t.Errorf("the key is in the report, or the answer is not: %s", text)
	}
	r, err = Connect(t.Context(), plan, Remote{URL: url})
	if err != nil || r.Verdict != report.VerdictInconclusive || !strings.Contains(r.Message, "401") {
		t.Errorf("without the key: %v, %s (%s): %s", err, r.Verdict, r.Reason, r.Message)
	}
}

// TestConnectBaseline: a manifest that is not the one of before fails.
func TestConnectBaseline(t *testing.T) {
	header := http.Header{"Authorization": {"Bearer one-of-two"}}
	plan := Plan{FailOn: report.SeverityHigh, Timeout: time.Minute, Probe: plan.Probe{Rounds: 1, Calls: report.CallsNever}}
	before, err := Connect(t.Context(), plan, Remote{URL: elsewhere(t, "one-of-two"), Header: header})
	if err != nil {
		t.Fatal(err)
	}
	if before.Reason != report.ReasonNotTraced || !strings.Contains(before.Message, "1 of 1: tool whoami") {
		t.Errorf("%s: %s", before.Reason, before.Message)
	}
	plan.Baseline = &before
	header.Set("Authorization", "Bearer two-of-two")
	after, err := Connect(t.Context(), plan, Remote{URL: elsewhere(t, "two-of-two"), Header: header})
	if err != nil || after.Verdict != report.VerdictFail {
		t.Errorf("%v, %s (%s): %s", err, after.Verdict, after.Reason, after.Message)
	}
}

func TestCheckURL(t *testing.T) {
	for text, want := range map[string]string{
		"https://mcp.example/mcp": "", "http://localhost:8080/mcp?a=b": "", "http://[::1]:8080": "",
		"mcp.example/mcp": "neither", "ftp://mcp.example": "neither", "https://": "no host", "https://:443/": "no host",
		"https://a@mcp.example": "user name", "https://a:b@mcp.example": "user name", "ftp://a:b@c": "user name",
		"https://mcp.example/#a": "fragment", "https://mcp.example:b/": "cannot be read", "https://a:b@c:d/": "cannot be read", "": "neither",
	} {
		err := CheckURL(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("CheckURL(%q) is %v, want %q", text, err, want)
		}
		if err != nil && strings.Contains(text, "b@c") && strings.Contains(err.Error(), "b@c") {
			t.Errorf("it repeats a password: %v", err)
		}
	}
}

func TestHider(t *testing.T) {
	hide := hider(http.Header{"Authorization": {"Bearer open-sesame"}, "X-Key": {"a b", "sesame"}})
	if got, want := hide("open-sesame, Bearer open-sesame, sesame, a b"),
		strings.Repeat("(the value of a header), ", 3)+"a b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
