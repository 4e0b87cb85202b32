package metrics

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	_ "sigs.k8s.io/controller-runtime" // registers what every manager tells
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/mcpaudit/mcpaudit/api/report"
)

var updateNames = flag.Bool("update", false, "rewrite test/alerts/metrics.json")

// values of the labels of our metrics. A label has the same ones in all
// metrics unless it stands here with that of the metric before it.
var values = map[string]words{
	"verdict": verdicts, "trigger": triggers, "priority": priorities, "severity": ofSeverities(), "times": streaks, "age": ofAges(),
	"decision": gateDecisions, "mode": gateModes, "cause": gateErrors, "denied": {"false", "true"},
	"outcome":                                 {"found", "invalid", "bad_secret", "not_found", "unauthorized", "unreachable"},
	"mcpaudit_statements_total/outcome":       statements,
	"mcpaudit_audits/reason":                  readyReasons,
	"mcpaudit_audits_total/reason":            verdictReasons,
	"mcpaudit_inconclusive_audits/reason":     auditedReasons,
	"mcpaudit_manifest_drifted_audits/reason": driftReasons,
	"mcpaudit_gate_decisions_total/reason":    answerReasons,
	"mcpaudit_gate_running_containers/reason": gateReasons,
}

func ofSeverities() (all words) {
	for _, s := range report.Severities {
		all = append(all, string(s))
	}
	return all
}

func ofAges() (all words) {
	for _, age := range ages {
		all = append(all, age.word)
	}
	return all
}

// told is a metric for those who ask for it in test/alerts. A label without values
// takes any.
type told struct {
	Type   string              `json:"type,omitempty"`
	Labels map[string][]string `json:"labels"`
}

// register keeps what is registered.
type register struct{ all []prometheus.Collector }

func (r *register) Register(c prometheus.Collector) error    { r.all = append(r.all, c); return nil }
func (r *register) MustRegister(all ...prometheus.Collector) { r.all = append(r.all, all...) }
func (r *register) Unregister(prometheus.Collector) bool     { return false }

type noSlots struct{ Slots }

func typeOf(c prometheus.Collector) string {
	switch c.(type) {
	case prometheus.Histogram, *prometheus.HistogramVec:
		return "histogram"
	case *Fleet, *Running, *prometheus.GaugeVec, prometheus.Gauge:
		return "gauge"
	case *prometheus.CounterVec, prometheus.Counter:
		return "counter"
	case prometheus.GaugeFunc:
		return "gauge"
	}
	return "" // of those that others register it is not known
}

var description = regexp.MustCompile(`fqName: "([a-z_0-9]+)".*variableLabels: \{([a-z,_]*)\}`)

// TestNames: the queries of dashboard and alerts are held against test/alerts/metrics.json,
// as the manager registers them.
func TestNames(t *testing.T) {
	r := &register{}
	New(r)
	NewGate(r, nil)
	r.MustRegister(&Fleet{Slots: noSlots{}}, &Running{})
	all := map[string]told{}
	for _, c := range append(r.all, ctrlmetrics.Registry.(prometheus.Collector)) {
		descs := make(chan *prometheus.Desc, 1000)
		c.Describe(descs)
		close(descs)
		for desc := range descs {
			match := description.FindStringSubmatch(desc.String())
			if match == nil {
				t.Fatalf("cannot read %s", desc)
			}
			metric := told{Type: typeOf(c), Labels: map[string][]string{}}
			for label := range strings.SplitSeq(match[2], ",") {
				if label != "" {
					metric.Labels[label] = valuesOf(t, match[1], label)
				}
			}
			all[match[1]] = metric
		}
	}
	maps.DeleteFunc(all, func(name string, _ told) bool { return strings.HasPrefix(name, "go_") })
	encoded, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	encoded = append(encoded, '\n')
	golden := filepath.Join("..", "..", "test", "alerts", "metrics.json")
	if *updateNames {
		if err := os.WriteFile(golden, encoded, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(encoded)); diff != "" {
		t.Errorf("the metrics are others than in test/alerts/metrics.json (-update writes it):\n%s", diff)
	}
}

// valuesOf are the values of a label, sorted; none where any may come.
func valuesOf(t *testing.T, metric, label string) []string {
	t.Helper()
	if !strings.HasPrefix(metric, "mcpaudit_") {
		return []string{}
	}
	list, known := values[metric+"/"+label]
	if !known {
		list, known = values[label]
	}
	if !known {
		t.Errorf("say what values the label %s of %s has", label, metric)
	}
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(list, words{other}))))
}
