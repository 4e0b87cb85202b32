package policyreport_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/policyreport"
)

// line is a result as a reader decodes it.
type line struct {
	Policy, Rule, Severity, Result, Message string
	Properties                              map[string]string
}

// report is one as a reader decodes it.
type report struct {
	Summary map[string]int
	Results []line
}

func build(t *testing.T, change func(*v1alpha1.MCPServerAudit)) report {
	t.Helper()
	audit := &v1alpha1.MCPServerAudit{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "notes", UID: "u"}}
	change(audit)
	built, err := policyreport.Build(0, audit)
	if err != nil || built == nil {
		t.Fatalf("report is %v, %v", built, err)
	}
	encoded, err := json.Marshal(built)
	if err != nil {
		t.Fatal(err)
	}
	if len(encoded) > 64<<10 {
		t.Errorf("the report has %d bytes", len(encoded))
	}
	var r report
	if err := json.Unmarshal(encoded, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestVerdict: only what passed, and is about the spec as it is, is a pass.
func TestVerdict(t *testing.T) {
	for _, test := range []struct {
		name                      string
		change                    func(*v1alpha1.MCPServerAudit)
		result, severity, message string
	}{
		{"passed", passed, "pass", "info", "no findings"},
		{"failed", failed, "fail", "critical", "2 findings"},
		{"drifted", func(a *v1alpha1.MCPServerAudit) {
			passed(a)
			a.Status.Verdict = v1alpha1.VerdictFail
			set(a, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonManifestDrifted, "The manifest changed.")
		}, "fail", "high", "The manifest changed."},
		{"inconclusive", inconclusive, "error", "high", "The tracer was lost."},
		{"a verdict that is not known", func(a *v1alpha1.MCPServerAudit) { passed(a); a.Status.Verdict = "Splendid" }, "error", "high", "Pass, of 3 of 3 tools: no findings."},
		{"not everything seen", func(a *v1alpha1.MCPServerAudit) {
			passed(a)
			set(a, v1alpha1.ConditionAudited, metav1.ConditionFalse, "Timeout", "")
		}, "error", "high", "Pass, of 3 of 3 tools: no findings."},
		{"suspended while one is due", func(a *v1alpha1.MCPServerAudit) {
			passed(a)
			set(a, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonSuspended, "Suspended.")
		}, "error", "high", "Suspended."},
		{"the conditions are gone", func(a *v1alpha1.MCPServerAudit) { passed(a); a.Status.Conditions = nil }, "error", "high", ""},
		{"another image since", func(a *v1alpha1.MCPServerAudit) { passed(a); a.Spec.Server.Image = "other" }, "error", "high", "The spec has changed"},
		{"another history limit since", func(a *v1alpha1.MCPServerAudit) { passed(a); a.Spec.Suspend = true }, "pass", "info", "Pass, of 3 of 3 tools: no findings."},
		{"failed, and another image since", func(a *v1alpha1.MCPServerAudit) { failed(a); a.Spec.Server.Image = "other" }, "fail", "critical", "2 findings"},
	} {
		got := build(t, test.change).Results[0]
		if got.Rule != "verdict" || got.Policy != "mcpaudit" || got.Result != test.result || got.Severity != test.severity || test.message == "" && got.Message != "" || !strings.Contains(got.Message, test.message) {
			t.Errorf("%s: %+v, want %s, %s: %s", test.name, got, test.result, test.severity, test.message)
		}
	}
}

// TestFindings: those that count fail, those below the threshold warn, those that are
// suppressed are skipped; a severity that is not known is the worst.
func TestFindings(t *testing.T) {
	got := build(t, failed)
	var lines []string
	for _, l := range got.Results[1:] {
		lines = append(lines, fmt.Sprintf("%s %s %s %s", l.Policy, l.Rule, l.Severity, l.Result))
	}
	want := []string{
		"MCPA-SECRET MCPA-SECRET-002 critical fail", "MCPA-EGRESS MCPA-EGRESS-001 high skip",
		"MCPA-FILE MCPA-FILE-001 high fail", "MCPA-HINT MCPA-HINT-001 low warn",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("results are %q, want %q", lines, want)
	}
	if got.Summary["fail"] != 3 || got.Summary["skip"] != 1 || got.Summary["warn"] != 1 || got.Summary["pass"] != 0 || got.Summary["error"] != 0 {
		t.Errorf("the summary is %v", got.Summary)
	}
	properties := got.Results[0].Properties
	if properties["findings"] != "1 Critical, 22 High, 1 Low (1 suppressed)" || properties["findingsOnlyInReport"] != "20" || properties["report"] != "notes-1" {
		t.Errorf("the verdict has %v", properties)
	}
	if finding := got.Results[1].Properties; finding["evidence"] != "09:30 pid 7: write" || finding["imageDigest"] != string(hash("a")) {
		t.Errorf("the finding has %v", finding)
	}
	for failOn, result := range map[v1alpha1.FailOn]string{"": "fail", "High": "fail", "Critical": "fail", "Never": "warn"} {
		unknown := build(t, func(a *v1alpha1.MCPServerAudit) {
			passed(a)
			a.Spec.FailOn = failOn
			a.Status.TopFindings = []v1alpha1.TopFinding{{Rule: "NEW", Severity: "Catastrophic", Message: "m"}}
		}).Results[1]
		if unknown.Severity != "critical" || unknown.Result != result || unknown.Policy != "NEW" {
			t.Errorf("failOn %q: %+v", failOn, unknown)
		}
	}
}

// TestHostileTexts: what a server wrote is plain text within bounds, wherever it stands.
func TestHostileTexts(t *testing.T) {
	hostile := strings.Repeat("\x1b[2J\u202e\u009b31m\n\u2028<script>&\"", 200)
	got := build(t, func(a *v1alpha1.MCPServerAudit) {
		failed(a)
		finding := v1alpha1.TopFinding{Rule: hostile, Severity: hostile, Capability: hostile, Message: hostile, Evidence: hostile, Suppressed: hostile}
		a.Status.TopFindings = slices.Repeat([]v1alpha1.TopFinding{finding}, 5)
		set(a, v1alpha1.ConditionReady, metav1.ConditionFalse, "Reason", hostile)
	})
	for _, l := range got.Results {
		texts := []string{l.Policy, l.Rule, l.Severity, l.Message}
		for key, value := range l.Properties {
			texts = append(texts, key, value)
		}
		for _, text := range texts {
			if len(text) > 1024 || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("a text of %d bytes: %.60q", len(text), text)
			}
		}
	}
}

// TestNoReportWithoutVerdict: what was never audited has none.
func TestNoReportWithoutVerdict(t *testing.T) {
	for i := range 2 {
		if got, err := policyreport.Build(i, &v1alpha1.MCPServerAudit{}); got != nil || err != nil {
			t.Errorf("got %v, %v", got, err)
		}
	}
}

func TestNameOf(t *testing.T) {
	long := strings.Repeat("a", 244) + ".bcdefgh"
	names := []string{"notes", "a", long, long + "i", strings.Repeat("a", 253)}
	seen := map[string]bool{}
	for _, name := range names {
		got := policyreport.NameOf(name)
		if problems := validation.IsDNS1123Subdomain(got); len(problems) > 0 || seen[got] || !strings.HasPrefix(got, "mcpaudit-") {
			t.Errorf("the report of %q is %q: %v", name, got, problems)
		}
		seen[got] = true
	}
}
