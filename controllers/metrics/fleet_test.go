package metrics_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/metrics"
)

var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// cache is a reader of what it holds.
type cache struct {
	client.Reader
	audits []v1alpha1.MCPServerAudit
	pods   []corev1.Pod
	err    error
}

func (c cache) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	switch list := list.(type) {
	case *v1alpha1.MCPServerAuditList:
		list.Items = c.audits
	case *corev1.PodList:
		list.Items = c.pods
	}
	return c.err
}

type slots struct{}

func (slots) Waiting() map[string]int {
	return map[string]int{"requested": 2, "scheduled": 5, "team-a": 1}
}
func (slots) Active() int { return 2 }
func (slots) Limit() int  { return 3 }

func elected() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

type change = func(*v1alpha1.MCPServerAudit)

func audit(verdict v1alpha1.Verdict, ready string, changes ...change) v1alpha1.MCPServerAudit {
	a := v1alpha1.MCPServerAudit{Status: v1alpha1.MCPServerAuditStatus{Verdict: verdict}}
	if ready != "" {
		a.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Reason: ready}}
	}
	for _, c := range changes {
		c(&a)
	}
	return a
}

func with(condition string, status metav1.ConditionStatus, reason string) change {
	return func(a *v1alpha1.MCPServerAudit) {
		a.Status.Conditions = append(a.Status.Conditions, metav1.Condition{Type: condition, Status: status, Reason: reason})
	}
}

func decided(ago time.Duration) change {
	return func(a *v1alpha1.MCPServerAudit) { a.Status.LastAuditTime = &metav1.Time{Time: now.Add(-ago)} }
}

func due(ago time.Duration) change {
	return func(a *v1alpha1.MCPServerAudit) { a.Status.NextAuditTime = &metav1.Time{Time: now.Add(-ago)} }
}

func failures(n int32) change {
	return func(a *v1alpha1.MCPServerAudit) { a.Status.ConsecutiveFailures = n }
}

func suspended(a *v1alpha1.MCPServerAudit) { a.Spec.Suspend = true }

func found(counts v1alpha1.FindingCounts, top ...string) change {
	return func(a *v1alpha1.MCPServerAudit) {
		a.Status.Findings = &counts
		for _, rule := range top {
			a.Status.TopFindings = append(a.Status.TopFindings, v1alpha1.TopFinding{Rule: rule})
		}
	}
}

func fleet(c cache) (*metrics.Fleet, *prometheus.Registry) {
	f := &metrics.Fleet{Cache: c, RunNamespace: "mcpaudit-runs", Elected: elected(), Slots: slots{}, Clock: clocktesting.NewFakePassiveClock(now)}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(f)
	return f, registry
}

// gathered is every series that is not 0.
func gathered(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			key := strings.TrimPrefix(family.GetName(), "mcpaudit_")
			for _, label := range metric.GetLabel() {
				key += " " + label.GetValue()
			}
			if value := metric.GetGauge().GetValue(); value != 0 {
				got[key] = value
			}
		}
	}
	return got
}

func TestFleet(t *testing.T) {
	const pass, fail, inconclusive = v1alpha1.VerdictPass, v1alpha1.VerdictFail, v1alpha1.VerdictInconclusive
	drifted := with(v1alpha1.ConditionManifestStable, metav1.ConditionFalse, v1alpha1.ReasonManifestDrifted)
	unavailable := with(v1alpha1.ConditionAudited, metav1.ConditionFalse, string(report.ReasonTracerUnavailable))
	for _, test := range []struct {
		name   string
		audits []v1alpha1.MCPServerAudit
		want   map[string]float64
	}{
		{"none", nil, map[string]float64{}},
		{"one that nobody has looked at", []v1alpha1.MCPServerAudit{audit("", "")}, map[string]float64{"audits Pending None": 1}},
		{"one of each verdict", []v1alpha1.MCPServerAudit{
			audit(pass, "Passed", decided(time.Minute)), audit(pass, "Passed", decided(2*time.Hour)),
			audit(fail, "FindingsAboveThreshold", decided(40*24*time.Hour)),
			audit(inconclusive, "AuditInconclusive", decided(24*time.Hour), unavailable), audit("", "Queued"),
		}, map[string]float64{
			"audits Passed Pass": 2, "audits FindingsAboveThreshold Fail": 1, "audits AuditInconclusive Inconclusive": 1, "audits Queued None": 1,
			"verdicts 1h": 1, "verdicts 1d": 1, "verdicts 7d": 1, "verdicts older": 1, "inconclusive_audits TracerUnavailable": 1,
			"oldest_verdict_timestamp_seconds": float64(now.Add(-40 * 24 * time.Hour).Unix()),
		}},
		{"findings", []v1alpha1.MCPServerAudit{
			audit(fail, "FindingsAboveThreshold", found(v1alpha1.FindingCounts{Critical: 1, High: 2, Suppressed: 1}, "MCPA-READ-001", "MCPA-BEHAVIOR-001", "MCPA-BEHAVIOR-001")),
			audit(pass, "Passed", found(v1alpha1.FindingCounts{High: 1, Medium: 3, Low: 4, Info: 5, Suppressed: 1})),
		}, map[string]float64{
			"audits FindingsAboveThreshold Fail": 1, "audits Passed Pass": 1, "findings Critical": 1, "findings High": 3,
			"findings Medium": 3, "findings Low": 4, "findings Info": 5, "findings_suppressed": 2, "behavior_drifted_audits": 1,
		}},
		{"drift", []v1alpha1.MCPServerAudit{
			audit(fail, "ManifestDrifted", drifted), audit(fail, "FindingsAboveThreshold", drifted),
			audit(pass, "Passed", with(v1alpha1.ConditionManifestStable, metav1.ConditionTrue, v1alpha1.ReasonFirstUse)),
		}, map[string]float64{
			"audits ManifestDrifted Fail": 1, "audits FindingsAboveThreshold Fail": 1, "audits Passed Pass": 1, "manifest_drifted_audits ManifestDrifted": 2,
		}},
		{"failures in a row", []v1alpha1.MCPServerAudit{
			audit(inconclusive, "AuditInconclusive", failures(1), unavailable), audit(inconclusive, "AuditInconclusive", failures(3), unavailable),
			audit(inconclusive, "AuditInconclusive", failures(1<<30), unavailable),
		}, map[string]float64{
			"audits AuditInconclusive Inconclusive": 3, "failing_audits 1": 1, "failing_audits 3_or_more": 2, "inconclusive_audits TracerUnavailable": 3,
		}},
		{"the most overdue, but what runs or is suspended", []v1alpha1.MCPServerAudit{
			audit(pass, "Passed", due(-time.Hour)), audit(pass, "Passed", due(time.Minute)), audit(pass, "Passed", due(3*time.Minute)),
			audit(pass, "Passed", due(time.Hour), suspended),
			audit(pass, "Passed", due(time.Hour), with(v1alpha1.ConditionAuditing, metav1.ConditionTrue, v1alpha1.ReasonRunning)),
		}, map[string]float64{"audits Passed Pass": 5, "overdue_seconds": 180, "suspended_audits": 1}},
		{"words that nobody knows", []v1alpha1.MCPServerAudit{
			audit("Perhaps", "team-a"), audit(inconclusive, "team-b", with(v1alpha1.ConditionAudited, metav1.ConditionFalse, "team-c")), audit(inconclusive, "Passed"),
		}, map[string]float64{"audits other other": 1, "audits other Inconclusive": 1, "audits Passed Inconclusive": 1, "inconclusive_audits other": 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, registry := fleet(cache{audits: test.audits, pods: make([]corev1.Pod, 4)})
			want := map[string]float64{
				"audits_running": 4, "audits_waiting requested": 2, "audits_waiting scheduled": 5, "audits_waiting other": 1, "slots": 3, "slots_taken": 2,
			}
			maps.Copy(want, test.want)
			if diff := cmp.Diff(want, gathered(t, registry)); diff != "" {
				t.Errorf("series (-want +got):\n%s", diff)
			}
			lint(t, f)
		})
	}
}

// TestFleetIsBounded: nothing that a tenant writes makes another series.
func TestFleetIsBounded(t *testing.T) {
	var audits []v1alpha1.MCPServerAudit
	for i := range 1000 {
		name := string(rune('a' + i%26))
		a := audit(v1alpha1.Verdict(name), name, with(v1alpha1.ConditionAudited, metav1.ConditionFalse, name), with(v1alpha1.ConditionManifestStable, metav1.ConditionFalse, name))
		a.Namespace, a.Name, a.Spec.Server.Image = name, name, name
		audits = append(audits, a)
	}
	f, _ := fleet(cache{audits: audits})
	empty, _ := fleet(cache{})
	if grown := testutil.CollectAndCount(f) - testutil.CollectAndCount(empty); grown > 4 {
		t.Errorf("a thousand audits of unknown words made %d series, want one of each metric at most", grown)
	}
}

func TestFleetIsSilent(t *testing.T) {
	for name, spoil := range map[string]func(*metrics.Fleet){
		"while another replica leads":   func(f *metrics.Fleet) { f.Elected = make(chan struct{}) },
		"while the cache is not filled": func(f *metrics.Fleet) { f.Cache, f.Slots = cache{err: errors.New("timed out")}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := fleet(cache{audits: []v1alpha1.MCPServerAudit{audit("", "")}})
			spoil(f)
			if n := testutil.CollectAndCount(f); n != 0 {
				t.Errorf("%d series, want none rather than wrong ones", n)
			}
		})
	}
}
