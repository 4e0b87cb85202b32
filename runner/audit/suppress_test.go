package audit

import (
	"strings"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// What a suppression is about does not fail the audit, and one that is about nothing
// is told of.
func TestSuppressed(t *testing.T) {
	now := time.Now()
	until := report.At(now.Add(time.Hour))
	r := report.Report{Findings: []report.Finding{{Rule: "MCPA-EGRESS-001", Severity: report.SeverityHigh, Message: "connect to a.test:443"}}}
	suppress(&r, []report.Suppression{
		{Rule: "MCPA-EGRESS-001", Match: "a.test", Reason: "known telemetry", Until: until},
		{Rule: "MCPA-FILE-001", Match: "/etc/shadow", Reason: "an old mistake", Until: until},
	}, now)
	if s := r.Findings[0].Suppressed; s == nil || s.Reason != "known telemetry" || !s.Until.Equal(until.Time) || s.Expired {
		t.Errorf("suppressed by %+v", s)
	}
	if len(r.Errors) != 1 || !strings.Contains(r.Errors[0], `MCPA-FILE-001 is about "/etc/shadow"`) || !strings.Contains(r.Errors[0], "an old mistake") {
		t.Errorf("notes: %q", r.Errors)
	}
}
