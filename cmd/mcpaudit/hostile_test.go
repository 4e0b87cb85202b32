package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/statement"
	"github.com/mcpaudit/mcpaudit/cmd/cli"
	"github.com/mcpaudit/mcpaudit/cmd/mcpaudit/webhook"
)

// orders has what terminals obey, or show in another order than it is written in.
const orders = "notes\u009b2J\u202e\u200b"

func harmless(t *testing.T, of, text string) {
	t.Helper()
	if strings.ContainsAny(text, "\x1b\u009b\u202e\u200b") {
		t.Errorf("%s: %q", of, text)
	}
}

// TestAttestIsHarmless: the statement that is printed to be read has nothing in it that
// a terminal obeys, and is the same for whoever decodes it.
func TestAttestIsHarmless(t *testing.T) {
	name := filepath.Join(t.TempDir(), "report.json")
	encoded, err := report.Encode(report.Report{
		SchemaVersion: report.SchemaVersion, Server: report.ServerRun{Name: orders, Command: []string{"server"}},
		Verdict: report.VerdictPass, Reason: report.ReasonPassed,
	})
	if err == nil {
		err = os.WriteFile(name, encoded, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	var out, notes bytes.Buffer
	root := newRoot("")
	root.SetOut(&out)
	root.SetErr(&notes)
	if _, err := cli.Run(t.Context(), root, []string{"attest", name, "--image", "notes@sha256:" + strings.Repeat("a", 64)}); err != nil {
		t.Fatal(err)
	}
	harmless(t, "attest", out.String())
	var s statement.Statement
	if err := json.Unmarshal(out.Bytes(), &s); err != nil || s.Predicate.Server.Name != orders {
		t.Errorf("%q, %v", s.Predicate.Server.Name, err)
	}
}

func TestDryRunIsHarmless(t *testing.T) {
	var out bytes.Buffer
	p := parcel{Delivery: webhook.Delivery{Header: http.Header{}, Body: []byte("{\n\"name\": \"" + orders + "\"\n}\n")}}
	if err := p.print(&out); err != nil {
		t.Fatal(err)
	}
	harmless(t, "push --dry-run", out.String())
	if !strings.Contains(out.String(), "\n{\n\"name\"") {
		t.Errorf("lines are lost: %q", out.String())
	}
}

// TestVerifyNamesTheThreshold: a Pass that nothing could have failed says so.
func TestVerifyNamesTheThreshold(t *testing.T) {
	for failOn, want := range map[report.Severity]string{"": "2 High; no threshold", report.SeverityCritical: "2 High; Critical and above fail"} {
		var out bytes.Buffer
		s := statement.Statement{Predicate: statement.Predicate{Verdict: report.VerdictPass, FailOn: failOn, Findings: report.Counts{High: 2}}}
		if err := printStatement(&out, s, true); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%q: want %q in %q, %v", failOn, want, out.String(), err)
		}
	}
}
