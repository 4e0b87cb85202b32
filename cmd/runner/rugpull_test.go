package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
)

// TestPodStartsAServerAgain: by the same shim, with the files that it has left, and
// at a later date.
func TestPodStartsAServerAgain(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("%v: hack/install.sh brings it", err)
	}
	later, err := filepath.Abs(filepath.Join("..", "..", "test", "servers", "node", "later.js"))
	if err != nil {
		t.Fatal(err)
	}
	due := time.Now().AddDate(0, 0, 30).Format(time.DateOnly)
	for name, tc := range map[string]struct {
		pod  pod
		rule string
	}{
		"with its files":                 {pod{Command: []string{filepath.Join(built, "rugpull"), "restart"}, ServerUID: 1000}, "MCPA-MANIFEST-003"},
		"with its files, by our tracer":  {pod{Command: []string{filepath.Join(built, "rugpull"), "restart"}, Tracer: plan.TracerPtrace}, "MCPA-MANIFEST-003"},
		"at a later date":                {pod{Command: []string{node, later, due}, Tracer: plan.TracerStrace, Depth: report.DepthStandard}, "MCPA-MANIFEST-005"},
		"at a later date, by our tracer": {pod{Command: []string{node, later, due}, Tracer: plan.TracerPtrace, Depth: report.DepthStandard}, "MCPA-MANIFEST-005"},
	} {
		t.Run(name, func(t *testing.T) {
			tc.pod.RunnerCaps, tc.pod.Timeout = runnerCaps, audited
			r := start(t, tc.pod).decode(t)
			if len(r.Findings) != 1 || r.Findings[0].Rule != tc.rule || r.Findings[0].Severity != report.SeverityHigh {
				t.Errorf("verdict %s (%s): %s, %+v", r.Verdict, r.Reason, r.Message, r.Findings)
			}
			unshifted := slices.ContainsFunc(r.Unobserved, func(g report.Gap) bool { return g.What == "ClockNotShifted" })
			if unshifted != (tc.pod.Depth == "") || r.Probe.Launches < 3 {
				t.Errorf("%d launches, %+v, %q", r.Probe.Launches, r.Unobserved, r.Errors)
			}
		})
	}
}
