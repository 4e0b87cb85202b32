// Package metrics counts audits. No label takes a value that a tenant chooses.
package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the metrics of the manager.
type Metrics struct {
	audits   *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

// New makes the metrics and registers them. running tells how many audit Pods
// there are, and is asked whenever the metrics are read.
func New(registry prometheus.Registerer, running func() float64) *Metrics {
	m := &Metrics{
		audits: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mcpaudit_audits_total",
			Help: "Audits that were decided, by verdict, by the reason of the verdict, and by what triggered them.",
		}, []string{"verdict", "reason", "trigger"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "mcpaudit_audit_duration_seconds",
			Help:    "Time from the creation of an audit Pod to the verdict.",
			Buckets: []float64{5, 10, 20, 40, 60, 120, 300, 600, 1800, 3600},
		}, []string{"verdict"}),
	}
	registry.MustRegister(m.audits, m.duration, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "mcpaudit_audits_running",
		Help: "Audit Pods that exist.",
	}, running))
	return m
}

// Decided counts an audit. took is 0 for an audit that never had a Pod.
func (m *Metrics) Decided(verdict, reason, trigger string, took time.Duration) {
	m.audits.WithLabelValues(verdict, reason, trigger).Inc()
	if took > 0 {
		m.duration.WithLabelValues(verdict).Observe(took.Seconds())
	}
}
