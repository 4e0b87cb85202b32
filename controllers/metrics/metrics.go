// Package metrics exports the metrics of audits. No label takes a value that a tenant chooses,
// such as a name, namespace or rule: every value comes from a closed list.
//
// Metrics counts events and starts at zero with each process. Fleet reports the current state
// from the manager's cache at scrape time, unaffected by restarts. Only the leader reports it,
// so sums over replicas are right.
package metrics

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"

	"github.com/mcpaudit/mcpaudit/controllers/imageref"
)

// Metrics are the events that the manager counts.
type Metrics struct {
	audits   *prometheus.CounterVec
	duration *prometheus.HistogramVec
	wait     prometheus.Histogram
	images   *prometheus.CounterVec
	attested *prometheus.CounterVec
}

// New makes the metrics and registers them.
func New(registry prometheus.Registerer) *Metrics {
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
		wait: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "mcpaudit_audit_wait_seconds",
			Help:    "Time that an audit spent in its last state before its Pod was created: waiting for a slot, for quota or for the registry.",
			Buckets: []float64{1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 24 * 3600},
		}),
		images: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mcpaudit_image_checks_total",
			Help: "Questions to registries for the digest of an image, by outcome.",
		}, []string{"outcome"}),
		attested: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mcpaudit_statements_total",
			Help: "Reports that were stored, by what became of their in-toto statement: key_unusable is for a key that is configured and cannot be used.",
		}, []string{"outcome"}),
	}
	registry.MustRegister(m.audits, m.duration, m.wait, m.images, m.attested)
	return m
}

// Decided counts an audit. took is 0 for an audit that never had a Pod.
func (m *Metrics) Decided(verdict, reason, trigger string, took time.Duration) {
	verdict = verdicts.label(verdict)
	m.audits.WithLabelValues(verdict, verdictReasons.label(reason), triggers.label(trigger)).Inc()
	if took > 0 {
		m.duration.WithLabelValues(verdict).Observe(took.Seconds())
	}
}

// Started counts an audit whose Pod was created, and how long after it was due.
func (m *Metrics) Started(waited time.Duration) { m.wait.Observe(waited.Seconds()) }

// Attested counts a stored report by the outcome of its statement.
func (m *Metrics) Attested(outcome string) {
	m.attested.WithLabelValues(statements.label(outcome)).Inc()
}

// Images resolves images.
type Images interface {
	Resolve(ctx context.Context, image string, pullSecrets []corev1.Secret) (imageref.Image, error)
	Digest(ctx context.Context, image string, pullSecrets []corev1.Secret) (string, error)
}

// Count wraps an image resolver and counts the outcomes.
func (m *Metrics) Count(images Images) Images { return counted{images, m.images} }

type counted struct {
	Images
	outcomes *prometheus.CounterVec
}

func (c counted) Resolve(ctx context.Context, image string, pullSecrets []corev1.Secret) (imageref.Image, error) {
	found, err := c.Images.Resolve(ctx, image, pullSecrets)
	c.outcomes.WithLabelValues(outcome(err)).Inc()
	return found, err
}

func (c counted) Digest(ctx context.Context, image string, pullSecrets []corev1.Secret) (string, error) {
	digest, err := c.Images.Digest(ctx, image, pullSecrets)
	c.outcomes.WithLabelValues(outcome(err)).Inc()
	return digest, err
}

func outcome(err error) string {
	if err == nil {
		return "found"
	}
	for _, known := range []struct {
		err  error
		word string
	}{
		{imageref.ErrInvalid, "invalid"}, {imageref.ErrAmbiguous, "invalid"}, {imageref.ErrBadSecret, "bad_secret"}, {imageref.ErrNotFound, "not_found"},
		{imageref.ErrUnauthorized, "unauthorized"}, {imageref.ErrUnreachable, "unreachable"},
	} {
		if errors.Is(err, known.err) {
			return known.word
		}
	}
	return other
}
