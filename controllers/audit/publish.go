package audit

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/apierr"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
	"github.com/mcpaudit/mcpaudit/controllers/verdict"
)

// judge determines the verdict.
func (r *Reconciler) judge(_ context.Context, s *session) (outcome, error) {
	in := verdict.Input{
		FailOn: s.audit.Spec.FailOn, MinAssurance: s.audit.Spec.MinAssurance, Baseline: s.audit.Spec.Baseline, Scoped: s.audit.Spec.DeclaredScope != nil,
		Known: s.audit.Status.BaselineDigest, KnownManifest: s.known, Change: s.change,
		Report: s.report, Summary: s.summary, Failure: s.failure,
	}
	if s.report != nil && !s.unstored {
		in.ReportName = s.run.Name
	}
	s.outcome = verdict.Judge(in)
	return proceed, nil
}

// publish stores the report and then fills in the status: a status never names
// a report that does not exist.
func (r *Reconciler) publish(ctx context.Context, s *session) (outcome, error) {
	if s.report != nil {
		if err := r.store(ctx, s); err != nil {
			if out, err := r.unstored(ctx, s, err); err != nil || out != proceed {
				return out, err
			}
		}
	}
	s.record(r.Options.RulesetDigest)
	r.plan(s)
	s.decided = true
	kind, event, _ := decision(s.outcome.Verdict, s.outcome.Ready.Reason, s.outcome.Audited.Reason)
	s.notice(kind, event, s.outcome.Ready.Message)
	if s.outcome.Drift != nil {
		s.notice(corev1.EventTypeWarning, "ManifestDrifted", s.outcome.ManifestStable.Message)
	}
	return proceed, nil
}

// unstored continues without a report that is refused, so no quota, policy or outdated CRD can
// hold back a verdict: after a while, or at once if it is too large. Its findings still count.
func (r *Reconciler) unstored(ctx context.Context, s *session, err error) (outcome, error) {
	tooLarge := apierrors.IsRequestEntityTooLargeError(err)
	if !apierr.IsRefusal(err) {
		return proceed, err
	}
	if !tooLarge {
		s.progress(v1alpha1.ReasonCollecting, fmt.Sprintf("The audit is done, and its report cannot be stored yet: %s.", err))
	}
	switch {
	case !tooLarge && s.inState() < collectDeadline:
		return wait(refusedPause), nil
	case tooLarge, apierrors.IsInvalid(err):
		s.report = nil // the status would be refused as well
	}
	s.unstored = true
	s.fail(report.ReasonReportLost, "The API server refuses the report: %s", err)
	return r.judge(ctx, s)
}

// store creates the report under the run's name, so storing is idempotent.
func (r *Reconciler) store(ctx context.Context, s *session) error {
	judged := s.report.DeepCopy() // the client overwrites what it sends with the response
	judged.Normalise()
	judged.Server.Name = excerpt.Line(judged.Server.Name, maxServerName) // a column of kubectl get
	judged.Verdict, judged.Reason, judged.Message = s.outcome.Verdict, s.outcome.Reason, cutMessage(s.outcome.Message)
	judged.Assurance = s.outcome.Assurance
	stored := &v1alpha1.MCPAuditReport{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.audit.Namespace, Name: s.run.Name, Labels: podspec.Labels(s.audit),
			Annotations: map[string]string{v1alpha1.ManifestAnnotation: s.report.ManifestDigest, v1alpha1.VerdictAnnotation: string(s.outcome.Verdict)},
		},
		Spec: v1alpha1.MCPAuditReportSpec{
			Audit: v1alpha1.AuditInputs{
				Name: s.audit.Name, Image: s.audit.Spec.Server.Image, ImageDigest: s.resolved,
				Generation: s.run.Generation, Trigger: s.run.Reason, ReportSHA256: s.summary.SHA256,
			},
			Report: *judged,
		},
	}
	if err := controllerutil.SetControllerReference(s.audit, stored, r.Client.Scheme()); err != nil {
		return fmt.Errorf("own report: %w", err)
	}
	attested, err := r.attest(ctx, s)
	if err != nil {
		return err
	}
	maps.Copy(stored.Annotations, attested.Annotations)
	err = r.Client.Create(ctx, stored, fieldOwner)
	if apierrors.IsAlreadyExists(err) {
		return r.same(ctx, stored)
	}
	if err != nil {
		return fmt.Errorf("store report: %w", err)
	}
	r.reportAttestation(ctx, s, attested)
	return nil
}

// same reports whether the existing report is the one to store. A different one exists only if
// the status was reset by hand; it is deleted and the store retried.
func (r *Reconciler) same(ctx context.Context, want *v1alpha1.MCPAuditReport) error {
	var there v1alpha1.MCPAuditReport
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(want), &there); err != nil {
		return fmt.Errorf("read report: %w", err)
	}
	if there.Spec.Audit.ReportSHA256 == want.Spec.Audit.ReportSHA256 {
		return nil
	}
	if err := r.Client.Delete(ctx, &there, client.Preconditions{UID: &there.UID}); err != nil {
		return fmt.Errorf("replace report: %w", err)
	}
	return fmt.Errorf("store report: %s was another run's and is replaced", want.Name)
}
