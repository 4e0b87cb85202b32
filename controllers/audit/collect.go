package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/nodes"
	"github.com/mcpaudit/mcpaudit/controllers/result"
)

// How long reading or storing a report may fail, the retry interval, and the timeout of one
// read. The deadline counts from the first attempt, not from the runner's end: the manager may
// start late, or the kubelet may be restarting.
const (
	collectDeadline = 2 * time.Minute
	logPause        = 2 * time.Second
	logTimeout      = 20 * time.Second
)

// collect reads the results of the Pod so far.
func (r *Reconciler) collect(ctx context.Context, s *session) (outcome, error) {
	state := result.Read(s.pod, s.now, result.Deadlines{
		Pull: r.Options.PullDeadline, Start: r.Options.StartDeadline, Queue: r.Options.QueueDeadline,
		Run: s.audit.Spec.Timeout.Duration + r.Options.PodMargin,
	})
	switch state.Stage {
	case result.Failed:
		s.fail(state.Reason, "%s", state.Message)
		return proceed, r.identify(ctx, s)
	case result.Finished:
		return r.collectReport(ctx, s)
	}
	s.progress(v1alpha1.ReasonRunning, fmt.Sprintf("%s (Pod %s/%s; audited because %s.)", state.Message, s.pod.Namespace, s.pod.Name, s.run.Message))
	return wait(state.Recheck), nil
}

func (r *Reconciler) collectReport(ctx context.Context, s *session) (outcome, error) {
	reading, cancel := context.WithTimeout(ctx, logTimeout)
	defer cancel()
	collected, err := result.Collect(reading, r.Logs, s.pod)
	switch {
	case errors.Is(err, result.ErrNoSummary):
		s.fail(report.ReasonRunnerFailed, "The runner ended without a report that this manager understands: %s", err)
	case errors.Is(err, report.ErrRotated):
		s.summary = &collected.Summary
		s.fail(report.ReasonReportLost, "The report is cut off at its beginning, because the kubelet rotated the log of the runner before it was read: "+
			"its containerLogMaxSize is too small")
	case errors.Is(err, result.ErrNoReport):
		s.progress(v1alpha1.ReasonCollecting, fmt.Sprintf("The audit is done, and its report is being read from Pod %s/%s.", s.pod.Namespace, s.pod.Name))
		if s.inState() < collectDeadline && s.pod.DeletionTimestamp == nil {
			return wait(logPause), nil
		}
		s.summary = &collected.Summary
		s.fail(report.ReasonReportLost, "%s", err)
	case err != nil:
		return proceed, err
	default:
		s.summary, s.report = &collected.Summary, &collected.Report
	}
	if err := r.identify(ctx, s); err != nil {
		return proceed, err
	}
	if !s.failed() && result.ServerOutOfMemory(s.pod) {
		s.fail(report.ReasonOOMKilled, "The server ran out of memory")
	}
	s.misled()
	return proceed, nil
}

// identify determines which image ran. The Pod names a manifest by digest, so a kubelet that
// reports another image ran another Pod. For an image that only the node could resolve, the
// digest may be that of an index, which has another manifest on other nodes.
func (r *Reconciler) identify(ctx context.Context, s *session) error {
	reported := result.ReadImageID(s.pod)
	s.resolved = s.run.ImageDigest
	of := &s.run.Audited
	switch {
	case reported.Digest == "":
	case s.resolved != "":
		if !s.isRun(reported) && !s.failed() {
			s.fail(report.ReasonImageMismatch, "The kubelet ran the image %s, and the registry had said %s", reported.Digest, s.resolved)
		}
	case !reported.InRepository:
		s.resolved, of.ImageID = reported.Digest, reported.Digest
	default:
		platform, err := nodes.Platform(ctx, r.Live, s.pod.Spec.NodeName)
		if err != nil {
			return err
		}
		s.resolved, of.Platform = reported.Digest, platform
	}
	return nil
}

// isRun reports whether a kubelet may report this ID for the Pod's image. A node knows an image
// by its config and by every digest it was pulled by, including an index that another workload
// named.
func (s *session) isRun(reported result.ImageID) bool {
	of := s.run.Audited
	if !reported.InRepository {
		return reported.Digest == of.ImageID
	}
	return reported.Digest == s.run.ImageDigest || slices.Contains(of.Digests, reported.Digest)
}
