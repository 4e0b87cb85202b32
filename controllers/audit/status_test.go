package audit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
	"github.com/mcpaudit/mcpaudit/controllers/verdict"
)

// maxStatus is the promise of the API: the status stays below 82 KB.
const maxStatus = 82_000

// full is a session with more of everything than a status may hold, in a text
// that takes as much room as a hostile server can make it take.
func full(text string) *session {
	digest := "sha256:" + strings.Repeat("f", 64)
	r := &report.Report{
		Verdict: report.VerdictFail, ManifestDigest: digest, Manifest: report.Manifest{Digest: digest},
		Risk: report.Risk{Score: 100, Level: report.RiskLevel(text)}, RulesetDigest: text, Behavior: report.Behavior{Digest: digest},
		Assurance: report.Assurance{Level: report.AssuranceLevel(text), Tools: text, Because: slices.Repeat([]string{text}, 20)},
		Runner:    report.Component{Version: text}, Tracer: report.Component{Name: text, Version: text},
		Exposure: &report.Exposure{Score: 100, Level: report.RiskLevel(text)},
	}
	for i := range 2 * v1alpha1.MaxExposed {
		r.Exposure.Items = append(r.Exposure.Items, report.ExposureItem{Kind: report.ExposureKind(fmt.Sprint(i) + text), Reach: report.Reach(text)})
		r.Exposure.Combinations = append(r.Exposure.Combinations, report.ExposureCombination{Name: report.CombinationName(text)})
	}
	r.Unobserved = []report.Gap{{What: report.GapUntriedGuards, Detail: text}}
	before := report.Manifest{Digest: "sha256:" + strings.Repeat("e", 64)}
	for i := range 600 {
		capability := report.Capability{Kind: report.CapabilityResourceTemplate, Name: text}
		r.Findings = append(r.Findings, report.Finding{Rule: text, Severity: report.Severity(text), Message: text, Capability: capability,
			Mitigation: text, Suppressed: &report.Suppressed{Reason: text, Expired: true}, ExceedsScope: true,
			Evidence: []report.Evidence{{PID: 1 << 22, Detail: text}}})
		r.Manifest.Tools = append(r.Manifest.Tools, report.Item{Name: fmt.Sprint(i%400) + text, Digest: digest})
		before.Tools = append(before.Tools, report.Item{Name: fmt.Sprint(i%400+200) + text, Digest: before.Digest})
	}
	audit := &v1alpha1.MCPServerAudit{ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("n", 253), Generation: 1 << 40}}
	audit.Spec.FailOn = "Info"
	s := &session{audit: audit, report: r, resolved: v1alpha1.Digest(digest), requested: strings.Repeat("r", 256)}
	s.run = podspec.Run{
		Name: podspec.Name(audit, s.requested), Generation: audit.Generation, SpecDigest: v1alpha1.Digest(digest),
		Requested: s.requested, Reason: v1alpha1.TriggerSuppressionExpired, Message: text, ImageDigest: v1alpha1.Digest(digest),
		Ambiguous: text,
		Audited: v1alpha1.AuditedServer{
			Digests: []v1alpha1.Digest{v1alpha1.Digest(digest), v1alpha1.Digest(before.Digest)}, AmbiguousDigest: v1alpha1.Digest(digest), ImageID: v1alpha1.Digest(digest),
			Image: text, Platform: text, CommandDigest: v1alpha1.Digest(digest), ArgvDigest: v1alpha1.Digest(digest),
		},
	}
	s.summary = &report.Summary{Runner: r.Runner, Tracer: r.Tracer, Counts: report.Count(r.Findings)}
	s.outcome = verdict.Judge(verdict.Input{
		FailOn: audit.Spec.FailOn, Scoped: true, Known: v1alpha1.Digest(before.Digest), KnownManifest: &before, Report: r,
		Failure: report.Incomplete{Reason: report.ReasonTimeout, Message: text}, ReportName: s.run.Name,
	})
	return s
}

func TestStatusIsBounded(t *testing.T) {
	for name, text := range map[string]string{
		"plain": "x", "wide": "\U0001f600", "escaped": `"`, "control": "\x01", "markup": "<", "separator": "\u2028", "invalid": "\xff",
	} {
		t.Run(name, func(t *testing.T) {
			s := full(strings.Repeat(text, 2000))
			for range 2 * v1alpha1.MaxHistory {
				s.record("sha256:" + strings.Repeat("f", 64))
			}
			s.audit.Status.NextAuditTime = s.audit.Status.LastAuditTime
			encoded, err := json.Marshal(s.audit.Status)
			if err != nil {
				t.Fatal(err)
			}
			status := s.audit.Status
			t.Logf("%d bytes", len(encoded))
			if len(encoded) >= maxStatus {
				t.Errorf("the status takes %d bytes, the bound is %d", len(encoded), maxStatus)
			}
			if len(status.TopFindings) != v1alpha1.MaxTopFindings || len(status.Tools) != v1alpha1.MaxTools || len(status.History) != v1alpha1.MaxHistory {
				t.Errorf("%d top findings, %d tools, %d audits: the caps are not used", len(status.TopFindings), len(status.Tools), len(status.History))
			}
			for _, list := range [][]string{status.Drift.Added, status.Drift.Removed, status.Drift.Changed} {
				if len(list) != v1alpha1.MaxDriftItems {
					t.Errorf("%d drift items: the cap is not used", len(list))
				}
			}
		})
	}
}

func TestTopFindingsShowEvidence(t *testing.T) {
	at := report.At(time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.UTC))
	for want, evidence := range map[string][]report.Evidence{
		"": nil,
		`2026-01-02T03:04:05.006Z pid 7: openat(AT_FDCWD, "/root/.ssh/id_rsa", O_RDONLY) = 3`: {
			{Time: at, PID: 7, Syscall: "openat", Detail: `openat(AT_FDCWD, "/root/.ssh/id_rsa", O_RDONLY) = 3`}, {Time: at, Detail: "another"},
		},
		"2026-01-02T03:04:05.006Z: hidden text": {{Time: at, Detail: "hidden\ntext"}},
	} {
		top := topFindings([]report.Finding{{Severity: report.SeverityHigh, Evidence: evidence}})
		if top[0].Evidence != want {
			t.Errorf("evidence is %q, want %q", top[0].Evidence, want)
		}
	}
}

func TestTopFindingsAreTheWorst(t *testing.T) {
	var findings []report.Finding
	for range 30 {
		findings = append(findings, report.Finding{Severity: report.SeverityInfo})
	}
	findings = append(findings, report.Finding{Severity: report.SeverityHigh}, report.Finding{Severity: "New"})
	top := topFindings(findings)
	if len(top) != v1alpha1.MaxTopFindings || top[0].Severity != "New" || top[1].Severity != "High" || top[2].Severity != "Info" {
		t.Errorf("top findings begin with %+v", top[:3])
	}
	if findings[0].Severity != report.SeverityInfo {
		t.Error("the order of the report was changed")
	}
}
