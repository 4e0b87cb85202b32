package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
)

// TestConnectRefusesItsOwnPod: what is asked for by a URL is not always had.
func TestConnectRefusesItsOwnPod(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the Pod was connected to") }))
	defer server.Close()
	termination := filepath.Join(t.TempDir(), "termination-log")
	if err := os.WriteFile(termination, nil, 0o644); err != nil { // as the kubelet does
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "connect", "--termination-log", termination)
	cmd.Env = []string{roleVar + "=runner", plan.Variable + `={"timeout":"30s","transport":"StreamableHTTP","url":"` + server.URL + `/mcp"}`}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	summary, err := os.ReadFile(termination)
	if err != nil {
		t.Fatal(err)
	}
	r := ended{Log: stdout.String(), Termination: string(summary)}.decode(t)
	if r.Verdict != report.VerdictInconclusive || !strings.Contains(r.Message, "the Pod itself") || r.Server.URL == "" {
		t.Errorf("verdict %s (%s): %s", r.Verdict, r.Reason, r.Message)
	}
	t.Logf("%s: %s", r.Reason, r.Message)
}

func TestConnectNeedsAURL(t *testing.T) {
	t.Setenv(plan.Variable, `{"timeout":"1m"}`)
	if err := runConnect(t.Context(), os.DevNull); err == nil {
		t.Error("connected without a URL")
	}
}
