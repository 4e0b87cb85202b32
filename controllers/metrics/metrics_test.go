package metrics_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/mcpaudit/mcpaudit/controllers/metrics"
)

func TestMetrics(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	m := metrics.New(registry, func() float64 { return 3 })
	m.Decided("Fail", "FindingsAboveThreshold", "Requested", 7*time.Second)
	m.Decided("Fail", "FindingsAboveThreshold", "Requested", 9*time.Second)
	m.Decided("Inconclusive", "ImagePullFailed", "NeverAudited", 0)

	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			key := family.GetName()
			for _, label := range metric.GetLabel() {
				key += " " + label.GetValue()
			}
			// Only one of the three is set.
			got[key] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + float64(metric.GetHistogram().GetSampleCount())
		}
	}
	want := map[string]float64{
		"mcpaudit_audits_running":                                         3,
		"mcpaudit_audits_total FindingsAboveThreshold Requested Fail":     2,
		"mcpaudit_audits_total ImagePullFailed NeverAudited Inconclusive": 1,
		"mcpaudit_audit_duration_seconds Fail":                            2,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}
