package audit

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/statement"
	attestation "github.com/mcpaudit/mcpaudit/controllers/statement"
)

// Attester makes the in-toto statement of a report. controllers/statement implements it.
type Attester interface {
	Attest(ctx context.Context, r report.Report, of statement.Image) (attestation.Result, error)
}

// attest makes the statement of the report with the manager's verdict, about the image that
// ran. There is none if the image is not known.
func (r *Reconciler) attest(ctx context.Context, s *session) (attestation.Result, error) {
	judged := *s.report
	judged.Verdict, judged.Reason, judged.Assurance = s.outcome.Verdict, s.outcome.Reason, s.outcome.Assurance
	judged.Message, judged.FailOn = cutMessage(s.outcome.Message), report.Severity(s.audit.Spec.FailOn)
	if judged.FailOn.Rank() < 0 {
		judged.FailOn = "" // Never
	}
	if judged.Incomplete == nil && s.failed() {
		judged.Incomplete = &s.failure
	}
	if r.Attester == nil || s.failure.Reason == report.ReasonImageMismatch {
		return attestation.Result{Outcome: attestation.None}, nil
	}
	return r.Attester.Attest(ctx, judged, s.attested())
}

// attested identifies the image that ran by the digests of the verdict; none for an image that
// only the node could resolve.
func (s *session) attested() statement.Image {
	ran := s.audited()
	if ran == nil || s.resolved == "" || len(ran.Digests) == 0 {
		return statement.Image{}
	}
	var digests []string
	for _, digest := range ran.Digests {
		digests = append(digests, string(digest))
	}
	return statement.Image{
		Audited: statement.Audited{Reference: ran.Image, Platform: ran.Platform, KnownBy: statement.KnownByOperator}, Digests: digests,
		Audit: &statement.Audit{Namespace: s.audit.Namespace, Name: s.audit.Name, UID: string(s.audit.UID)},
	}
}

// reportAttestation reports the outcome of attesting a stored report.
func (r *Reconciler) reportAttestation(ctx context.Context, s *session, attested attestation.Result) {
	r.Metrics.Attested(string(attested.Outcome))
	if attested.Problem != "" {
		s.notice(corev1.EventTypeWarning, "NotSigned", attested.Problem)
		log.FromContext(ctx).Info("Could not sign the statement of an audit", "problem", attested.Problem)
	}
}
