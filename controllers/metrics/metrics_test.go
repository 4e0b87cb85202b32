package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"

	"github.com/mcpaudit/mcpaudit/controllers/imageref"
	"github.com/mcpaudit/mcpaudit/controllers/metrics"
)

// lint holds what a registry tells to the conventions of Prometheus.
func lint(t *testing.T, collector prometheus.Collector) {
	t.Helper()
	problems, err := testutil.CollectAndLint(collector)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
}

func TestDecisions(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	m := metrics.New(registry)
	m.Decided("Fail", "FindingsAboveThreshold", "Requested", 7*time.Second)
	m.Decided("Fail", "FindingsAboveThreshold", "Requested", 9*time.Second)
	m.Decided("Inconclusive", "ImagePullFailed", "NeverAudited", 0)
	m.Decided("Perhaps", "because the tenant says so", "Tuesday", time.Second)
	m.Started(3 * time.Second)
	lint(t, registry)
	expect(t, registry, `
# HELP mcpaudit_audits_total Audits that were decided, by verdict, by the reason of the verdict, and by what triggered them.
# TYPE mcpaudit_audits_total counter
mcpaudit_audits_total{reason="FindingsAboveThreshold",trigger="Requested",verdict="Fail"} 2
mcpaudit_audits_total{reason="ImagePullFailed",trigger="NeverAudited",verdict="Inconclusive"} 1
mcpaudit_audits_total{reason="other",trigger="other",verdict="other"} 1
`)
	for name, series := range map[string]int{"mcpaudit_audit_duration_seconds": 2, "mcpaudit_audit_wait_seconds": 1} {
		if n, err := testutil.GatherAndCount(registry, name); err != nil || n != series {
			t.Errorf("%s has %d series (%v), want %d", name, n, err, series)
		}
	}
}

func expect(t *testing.T, registry prometheus.Gatherer, want string) {
	t.Helper()
	var names []string
	for line := range strings.Lines(want) {
		if words := strings.Fields(line); len(words) > 2 && words[1] == "TYPE" {
			names = append(names, words[2])
		}
	}
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
}

type answers struct{ err error }

func (a answers) Resolve(context.Context, string, []corev1.Secret) (imageref.Image, error) {
	return imageref.Image{Digest: "sha256:1"}, a.err
}

func (a answers) Digest(context.Context, string, []corev1.Secret) (string, error) {
	return "sha256:1", a.err
}

func TestImageChecks(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	m := metrics.New(registry)
	for _, err := range []error{
		nil, nil, fmt.Errorf("%w: registry.example/a", imageref.ErrNotFound), imageref.ErrUnauthorized,
		imageref.ErrUnreachable, imageref.ErrInvalid, imageref.ErrBadSecret, context.Canceled,
	} {
		image, got := m.Count(answers{err}).Resolve(t.Context(), "registry.example/a", nil)
		if !errors.Is(got, err) || image.Digest != "sha256:1" {
			t.Errorf("Resolve = %v, %v, want the answer as it is: %v", image, got, err)
		}
	}
	if digest, err := m.Count(answers{}).Digest(t.Context(), "registry.example/a", nil); digest != "sha256:1" || err != nil {
		t.Errorf("Digest = %s, %v", digest, err)
	}
	lint(t, registry)
	expect(t, registry, `
# HELP mcpaudit_image_checks_total Questions to registries for the digest of an image, by outcome.
# TYPE mcpaudit_image_checks_total counter
mcpaudit_image_checks_total{outcome="bad_secret"} 1
mcpaudit_image_checks_total{outcome="found"} 3
mcpaudit_image_checks_total{outcome="invalid"} 1
mcpaudit_image_checks_total{outcome="not_found"} 1
mcpaudit_image_checks_total{outcome="other"} 1
mcpaudit_image_checks_total{outcome="unauthorized"} 1
mcpaudit_image_checks_total{outcome="unreachable"} 1
`)
}
