package alerts

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// trial says what an alert has to do at a time, on series of one value a minute, the
// first of them at 0.
type trial struct {
	name   string
	alert  string
	series []string
	at     time.Duration
	// fires: the labels that it fires with; nil: it is silent.
	fires []string
	says  string // in the description of the first
}

var once = []string{"{}"}

var trials = []trial{
	{"a manifest drifts", "MCPServerDrifted", []string{`mcpaudit_manifest_drifted_audits{reason="ManifestDrifted"} 0x9 2x9`, `mcpaudit_manifest_drifted_audits{reason="BaselineMismatch"} 0x19`},
		10 * time.Minute, once, "2 audits."},
	{"none drifts", "MCPServerDrifted", []string{`mcpaudit_manifest_drifted_audits{reason="ManifestDrifted"} 0x19`}, 19 * time.Minute, nil, ""},
	{"the new manifest was approved", "MCPServerDrifted", []string{`mcpaudit_manifest_drifted_audits{reason="ManifestDrifted"} 1x9 0x9`}, 10 * time.Minute, nil, ""},

	{"a server does something new", "MCPServerBehaviorChanged", []string{`mcpaudit_behavior_drifted_audits 1x9`}, 5 * time.Minute, once, "1 audits have a finding"},
	{"not for long enough", "MCPServerBehaviorChanged", []string{`mcpaudit_behavior_drifted_audits 1x9`}, 4 * time.Minute, nil, ""},
	{"none does", "MCPServerBehaviorChanged", []string{`mcpaudit_behavior_drifted_audits 0x19`}, 19 * time.Minute, nil, ""},

	{"a server fails", "MCPServerFailed", []string{`mcpaudit_audits{verdict="Fail",reason="ScopeExceeded"} 1x9`, `mcpaudit_audits{verdict="Fail",reason="FindingsAboveThreshold"} 2x9`},
		5 * time.Minute, once, "3 audits."},
	{"others are inconclusive or pass", "MCPServerFailed", []string{`mcpaudit_audits{verdict="Fail",reason="ScopeExceeded"} 0x9`, `mcpaudit_audits{verdict="Inconclusive",reason="AuditInconclusive"} 4x9`,
		`mcpaudit_audits{verdict="Pass",reason="Passed"} 4x9`}, 9 * time.Minute, nil, ""},

	{"two reasons", "MCPAuditsInconclusive", []string{`mcpaudit_inconclusive_audits{reason="Timeout"} 3x70`, `mcpaudit_inconclusive_audits{reason="OOMKilled"} 1x70`, `mcpaudit_inconclusive_audits{reason="Evicted"} 0x70`},
		time.Hour, []string{`{reason="OOMKilled"}`, `{reason="Timeout"}`}, "1 audits."},
	{"servers that run elsewhere", "MCPAuditsInconclusive", []string{`mcpaudit_inconclusive_audits{reason="NotTraced"} 3x70`}, 70 * time.Minute, nil, ""},
	{"a retry succeeds within the hour", "MCPAuditsInconclusive", []string{`mcpaudit_inconclusive_audits{reason="Evicted"} 1x20 0x60`}, 70 * time.Minute, nil, ""},

	{"old verdicts", "MCPVerdictsStale", []string{`mcpaudit_verdicts{age="older"} 2x70`, `mcpaudit_verdicts{age="30d"} 5x70`}, time.Hour, once, "2 audits."},
	{"verdicts of this month", "MCPVerdictsStale", []string{`mcpaudit_verdicts{age="older"} 0x70`, `mcpaudit_verdicts{age="30d"} 5x70`}, 70 * time.Minute, nil, ""},

	{"it runs in spite of the gate", "MCPGateRunningViolations", []string{`mcpaudit_gate_running_containers{reason="Failed",denied="true"} 2x9`, `mcpaudit_gate_running_containers{reason="NotAudited",denied="true"} 1x9`},
		5 * time.Minute, once, "3 containers."},
	{"what runs may", "MCPGateRunningViolations", []string{`mcpaudit_gate_running_containers{reason="Passed",denied="false"} 9x9`}, 9 * time.Minute, nil, ""},

	{"a controller tries again and again", "MCPGateDenials", []string{`mcpaudit_gate_decisions_total{decision="denied",reason="NotAudited",mode="Enforce",pod="a"} 0+1x40`,
		`mcpaudit_gate_decisions_total{decision="denied",reason="NotAudited",mode="Enforce",pod="b"} 0+1x40`}, 30 * time.Minute, []string{`{reason="NotAudited"}`}, "30 requests in 15 minutes"},
	{"somebody was denied once", "MCPGateDenials", []string{`mcpaudit_gate_decisions_total{decision="denied",reason="Failed",mode="Enforce"} 1x5 2x60`}, 40 * time.Minute, nil, ""},
	{"others are allowed, warned of and audited", "MCPGateDenials", []string{`mcpaudit_gate_decisions_total{decision="allowed",reason="Passed",mode="Enforce"} 0+9x60`,
		`mcpaudit_gate_decisions_total{decision="audited",reason="Failed",mode="Audit"} 0+9x60`, `mcpaudit_gate_decisions_total{decision="warned",reason="Failed",mode="Warn"} 0+9x60`}, 40 * time.Minute, nil, ""},

	{"the gate cannot decide", "MCPGateErrors", []string{`mcpaudit_gate_errors_total{cause="busy"} 0+2x30`, `mcpaudit_gate_errors_total{cause="panic"} 7x30`}, 20 * time.Minute, []string{`{cause="busy"}`}, "failurePolicy"},
	{"it cannot for some minutes", "MCPGateErrors", []string{`mcpaudit_gate_errors_total{cause="busy"} 0+2x30`}, 9 * time.Minute, nil, ""},
	{"it could not for a moment", "MCPGateErrors", []string{`mcpaudit_gate_errors_total{cause="not_synced"} 0+2x3 8x30`}, 15 * time.Minute, nil, ""},

	{"no gate runs", "MCPGateAbsent", []string{`mcpaudit_audits{verdict="Pass"} 1x20`}, 5 * time.Minute, once, "mcpaudit-gate"},
	{"a gate runs", "MCPGateAbsent", []string{`mcpaudit_gate_verdicts{pod="a"} 0x20`}, 9 * time.Minute, nil, ""},

	{"one replica has an old certificate", "MCPGateCertificateExpiring", []string{`mcpaudit_gate_certificate_expiry_timestamp_seconds{pod="a"} 8000000x70`, `mcpaudit_gate_certificate_expiry_timestamp_seconds{pod="b"} 604000x70`},
		time.Hour, once, "mcpaudit-gate-certificate"},
	{"one replica has none", "MCPGateCertificateExpiring", []string{`mcpaudit_gate_certificate_expiry_timestamp_seconds{pod="a"} 8000000x70`, `mcpaudit_gate_certificate_expiry_timestamp_seconds{pod="b"} 0x70`}, time.Hour, once, ""},
	{"it is renewed in time", "MCPGateCertificateExpiring", []string{`mcpaudit_gate_certificate_expiry_timestamp_seconds 604900x30 8000000x40`}, 70 * time.Minute, nil, ""},

	{"a third is inconclusive", "MCPAuditInconclusiveRate", []string{`mcpaudit_audits_total{verdict="Inconclusive",reason="Unschedulable",trigger="ScheduleDue"} 0+1x90`,
		`mcpaudit_audits_total{verdict="Pass",reason="Passed",trigger="ScheduleDue"} 0+2x90`}, 75 * time.Minute, once, "33.33% of them"},
	{"one in ten is", "MCPAuditInconclusiveRate", []string{`mcpaudit_audits_total{verdict="Inconclusive",reason="Timeout",trigger="ScheduleDue"} 0+1x90`,
		`mcpaudit_audits_total{verdict="Pass",reason="Passed",trigger="ScheduleDue"} 0+9x90`}, 90 * time.Minute, nil, ""},
	{"one of two", "MCPAuditInconclusiveRate", []string{`mcpaudit_audits_total{verdict="Inconclusive",reason="Timeout",trigger="Requested"} 0x10 1x80`,
		`mcpaudit_audits_total{verdict="Pass",reason="Passed",trigger="Requested"} 0x10 1x80`}, 60 * time.Minute, nil, ""},
	{"all of them run elsewhere", "MCPAuditInconclusiveRate", []string{`mcpaudit_audits_total{verdict="Inconclusive",reason="NotTraced",trigger="ScheduleDue"} 0+1x90`}, 90 * time.Minute, nil, ""},

	{"two hours late", "MCPAuditsOverdue", []string{`mcpaudit_overdue_seconds 7200x20`}, 15 * time.Minute, once, "by 2h 0m 0s"},
	{"half an hour late", "MCPAuditsOverdue", []string{`mcpaudit_overdue_seconds 1800x20`}, 20 * time.Minute, nil, ""},

	{"none was ever started", "MCPAuditQueueStuck", []string{`mcpaudit_audits_waiting{priority="requested"} 1x60`, `mcpaudit_audits_waiting{priority="drift"} 2x60`, `mcpaudit_audit_wait_seconds_count{pod="a"} 0x60`},
		16 * time.Minute, once, "3 wait."},
	{"none is started any more", "MCPAuditQueueStuck", []string{`mcpaudit_audits_waiting{priority="scheduled"} 5x90`, `mcpaudit_audit_wait_seconds_count{pod="a"} 0+1x20 20x70`}, 70 * time.Minute, once, ""},
	{"the queue is long and moves", "MCPAuditQueueStuck", []string{`mcpaudit_audits_waiting{priority="scheduled"} 50x90`, `mcpaudit_audit_wait_seconds_count{pod="a"} 0x90`, `mcpaudit_audit_wait_seconds_count{pod="b"} 0+1x90`}, 90 * time.Minute, nil, ""},
	{"nothing waits, nothing starts", "MCPAuditQueueStuck", []string{`mcpaudit_audits_waiting{priority="scheduled"} 0x90`, `mcpaudit_audit_wait_seconds_count 3x90`}, 90 * time.Minute, nil, ""},

	{"no manager", "MCPAuditManagerAbsent", nil, 5 * time.Minute, once, "get pods,leases"},
	{"replicas without a leader", "MCPAuditManagerAbsent", []string{`mcpaudit_gate_verdicts{pod="a"} 3x20`}, 5 * time.Minute, once, ""},
	{"the leader changes", "MCPAuditManagerAbsent", []string{`mcpaudit_audits{verdict="Pass",reason="Passed",pod="a"} 3x5 _x20`, `mcpaudit_audits{verdict="Pass",reason="Passed",pod="b"} _x7 3x20`}, 20 * time.Minute, nil, ""},

	{"it fails every four seconds", "MCPAuditReconcileErrors", []string{`controller_runtime_reconcile_errors_total{controller="mcpserveraudit"} 0+15x40`}, 30 * time.Minute, once, "grep ERROR"},
	{"another operator fails", "MCPAuditReconcileErrors", []string{`controller_runtime_reconcile_errors_total{controller="deployment"} 0+60x40`, `controller_runtime_reconcile_errors_total{controller="mcpserveraudit"} 0+1x40`}, 40 * time.Minute, nil, ""},
}

func TestAlerts(t *testing.T) {
	all := rules(t)
	for _, try := range trials {
		t.Run(try.alert+"/"+try.name, func(t *testing.T) {
			r, exists := all[try.alert]
			if !exists {
				t.Fatal("there is no such alert")
			}
			found := evaluate(t, r, load(t, try.series), try.at)
			slices.SortFunc(found, func(a, b fired) int { return strings.Compare(a.labels, b.labels) })
			var got []string
			for _, f := range found {
				got = append(got, f.labels)
				for _, text := range r.Annotations {
					expand(t, r, text, f)
				}
			}
			if !slices.Equal(got, try.fires) {
				t.Fatalf("after %s it fires with %v, want %v", try.at, got, try.fires)
			}
			if len(found) > 0 {
				if text := expand(t, r, r.Annotations["description"], found[0]); !strings.Contains(text, try.says) {
					t.Errorf("it says %q, want %q in it", text, try.says)
				}
			}
		})
	}
}

// TestEveryAlertIsTried on a series on which it fires, and on one on which it does not.
func TestEveryAlertIsTried(t *testing.T) {
	for name := range rules(t) {
		fires := slices.ContainsFunc(trials, func(try trial) bool { return try.alert == name && try.fires != nil })
		silent := slices.ContainsFunc(trials, func(try trial) bool { return try.alert == name && try.fires == nil })
		if !fires || !silent {
			t.Errorf("%s: it is tried that it fires: %t, that it is silent: %t", name, fires, silent)
		}
	}
}

const runbooks = "https://github.com/mcpaudit/mcpaudit/blob/main/docs/monitoring.md#"

var heading = regexp.MustCompile(`(?m)^### (\S+)$`)

// TestEveryAlertHasARunbook: a section of docs/monitoring.md that has its expression,
// and each such section has an alert.
func TestEveryAlertHasARunbook(t *testing.T) {
	text := string(content(t, "..", "..", "docs", "monitoring.md"))
	sections := map[string]string{}
	at := heading.FindAllStringSubmatchIndex(text, -1)
	for i, found := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		sections[text[found[2]:found[3]]] = text[found[1]:end]
	}
	all := rules(t)
	for name, r := range all {
		section, exists := sections[name]
		if !exists || r.Annotations["runbook_url"] != runbooks+strings.ToLower(name) {
			t.Errorf("%s: docs/monitoring.md has its section: %t; runbook_url is %q", name, exists, r.Annotations["runbook_url"])
		}
		held := ""
		if r.For != "" {
			held = " for " + r.For
		}
		if !strings.Contains(section, "`"+r.Expr+"`"+held) {
			t.Errorf("%s: docs/monitoring.md does not say `%s`%s", name, r.Expr, held)
		}
		if !strings.Contains(section, r.Labels["severity"]) || !slices.Contains([]string{"critical", "warning"}, r.Labels["severity"]) {
			t.Errorf("%s: the severity is %q, and docs/monitoring.md has to say so", name, r.Labels["severity"])
		}
		if r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
			t.Errorf("%s: it has no summary or no description", name)
		}
	}
	for name := range sections {
		if _, exists := all[name]; !exists && strings.HasPrefix(name, "MCP") {
			t.Errorf("docs/monitoring.md tells of %s, which is no alert", name)
		}
	}
}
