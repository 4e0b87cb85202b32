package audit

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// compare compares the report with the baseline's and marks the findings that the spec
// suppresses.
func (r *Reconciler) compare(ctx context.Context, s *session) (outcome, error) {
	known, err := r.baselineReport(ctx, s.audit)
	if err != nil {
		return proceed, err
	}
	if known != nil {
		s.known = &known.Manifest
		drift, found := report.Compare(*known, *s.report)
		s.report.Baseline = drift
		for _, f := range found {
			if f.Rule == report.RuleManifestChanged { // has its own condition
				s.change = f.Message
				continue
			}
			s.report.Findings = append(s.report.Findings, f)
			s.notice(corev1.EventTypeWarning, drifts[f.Rule], f.Message)
		}
		s.report.Cap()
	}
	s.suppress()
	return proceed, nil
}

// drifts maps rules about drift from an earlier audit to event reasons.
var drifts = map[string]string{report.RuleBehaviorChanged: "BehaviorDrifted", report.RuleEnablesMore: "ExposureDrifted"}

// suppress applies the current suppressions of the spec, replacing the runner's marks.
func (s *session) suppress() {
	var by []report.Suppression
	for _, suppression := range s.audit.Spec.Suppressions {
		if err := suppression.Check(s.now); err != nil {
			s.notice(corev1.EventTypeWarning, "SuppressionIgnored", fmt.Sprintf("A suppression of the spec does not count: %s.", err))
			continue
		}
		by = append(by, suppression)
	}
	marked, unused := report.Suppress(s.report.Findings, by, s.now)
	s.report.Findings = marked
	for _, one := range unused {
		s.notice(corev1.EventTypeNormal, "SuppressionUnused",
			fmt.Sprintf("No finding of %s matches the suppression %q of the spec: it can be removed.", one.Rule, one.Match))
	}
}

// baselineReport reads the report kept for the baseline; nil if there is none or nothing to
// compare.
func (r *Reconciler) baselineReport(ctx context.Context, audit *v1alpha1.MCPServerAudit) (*report.Report, error) {
	digest := audit.Status.BaselineDigest
	switch audit.Spec.Baseline.Mode {
	case v1alpha1.BaselinePinned:
		digest = audit.Spec.Baseline.ManifestDigest
	case v1alpha1.BaselineNone:
		return nil, nil
	}
	if digest == "" {
		return nil, nil
	}
	reports, err := r.reports(ctx, audit)
	if err != nil {
		return nil, err
	}
	i := baselineOf(reports, digest)
	if i < 0 {
		return nil, nil
	}
	var stored v1alpha1.MCPAuditReport
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(&reports[i]), &stored); err != nil {
		return nil, fmt.Errorf("read report of the baseline: %w", err)
	}
	return &stored.Spec.Report, nil
}

// baselineOf returns the index of the report that represents a manifest, in reports sorted
// latest first: the latest that passed, so the behaviour of a failed one is not approved; else
// the latest; -1 if there is none.
func baselineOf(reports []metav1.PartialObjectMetadata, digest v1alpha1.Digest) int {
	latest := -1
	for i, candidate := range reports {
		switch {
		case candidate.Annotations[v1alpha1.ManifestAnnotation] != string(digest):
		case candidate.Annotations[v1alpha1.VerdictAnnotation] == string(v1alpha1.VerdictPass):
			return i
		case latest < 0:
			latest = i
		}
	}
	return latest
}
