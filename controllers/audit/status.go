package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/conditions"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
	"github.com/mcpaudit/mcpaudit/controllers/trigger"
)

// Limits of status texts, in bytes of JSON. With the caps on lists they keep the status below
// 80 KB; the CRD's maxLengths are no smaller.
const (
	maxFindingMessage = 320
	maxEvidence       = 160
	maxCapability     = 96
	maxWord           = 64
	maxToolName       = 64
	maxDriftItem      = 88
	maxTriggerMessage = 512
	maxDigest         = 71
	maxSuppressed     = 80
	maxImage          = 512
	maxAmbiguity      = 512
	maxBecause        = 200
	maxUntried        = 120
	maxLevel          = 16
	maxShare          = 32
	maxKind           = 24
	maxServerName     = 256
)

// record writes the outcome into the status. It replaces everything about the previous audit,
// so no verdict stands beside another's findings.
func (s *session) record(rulesetDigest string) {
	now := metav1.NewTime(s.now)
	status := &s.audit.Status
	status.Verdict, status.Phase = s.outcome.Verdict, phases[s.outcome.Verdict]
	status.ImageDigest, status.Audited = s.resolved, s.audited()
	status.ManifestDigest, status.BaselineDigest = s.outcome.ManifestDigest, s.outcome.BaselineDigest
	status.Drift = drift(s.outcome.Drift)
	status.LastAuditTime = &now
	status.LastHandledReconcileAt = s.run.Requested
	status.Trigger = &v1alpha1.Trigger{
		Reason: s.run.Reason, Message: excerpt.Line(s.run.Message, maxTriggerMessage),
		Run: s.run.Name, Generation: s.run.Generation, SpecDigest: s.run.SpecDigest, ImageDigest: s.run.ImageDigest,
		Baseline: trigger.Baseline(s.audit.Spec.Baseline), RulesetDigest: rulesetDigest,
	}
	s.remember()
	status.Findings, status.Coverage, status.Runner = nil, nil, nil
	status.TopFindings, status.Tools, status.ReportRef, status.Exposure = nil, nil, nil, nil
	status.BehaviorDigest, status.RiskScore, status.RiskLevel = "", nil, ""
	status.Assurance = assurance(s.outcome.Assurance)
	if s.summary != nil {
		status.Findings = counts(s.summary.Counts)
		status.Coverage = new(s.summary.Coverage)
		status.Runner = &v1alpha1.Runner{
			Version: excerpt.Line(s.summary.Runner.Version, maxWord),
			Tracer:  excerpt.Line(strings.TrimSpace(s.summary.Tracer.Name+" "+s.summary.Tracer.Version), maxWord),
		}
	}
	if s.report != nil {
		status.Findings = counts(report.Count(s.report.Findings))
		status.Exposure = exposure(s.report)
		status.TopFindings = topFindings(s.report.Findings)
		status.Tools = tools(s.report.Manifest.Tools)
		status.BehaviorDigest = v1alpha1.Digest(s.report.Behavior.Digest)
		status.RiskScore, status.RiskLevel = new(int32(s.report.Risk.Score)), excerpt.Line(string(s.report.Risk.Level), maxWord)
		status.Runner.RulesetDigest = excerpt.Line(s.report.RulesetDigest, maxDigest)
	}
	if s.report != nil && !s.unstored {
		status.ReportRef = &v1alpha1.ReportReference{Name: s.run.Name}
	}
	s.set(v1alpha1.ConditionReady, s.outcome.Ready)
	s.set(v1alpha1.ConditionAudited, s.outcome.Audited)
	s.set(v1alpha1.ConditionScopeConformant, s.outcome.ScopeConformant)
	s.set(v1alpha1.ConditionManifestStable, s.outcome.ManifestStable)
	s.recordAmbiguity()
	conditions.Remove(s.audit, v1alpha1.ConditionStalled)
	if s.outcome.Ready.Status == metav1.ConditionFalse {
		s.set(v1alpha1.ConditionStalled, conditions.True(s.outcome.Ready.Reason, s.outcome.Ready.Message))
	}
	s.idle()
	if s.halted != nil {
		s.refuse() // the spec or configuration changed during the run
	}
}

// remember prepends the outcome to the history and counts consecutive incomplete audits.
func (s *session) remember() {
	status := &s.audit.Status
	reason := s.outcome.Ready.Reason
	if s.outcome.Verdict == v1alpha1.VerdictInconclusive {
		reason = s.outcome.Audited.Reason
		status.ConsecutiveFailures++
	} else {
		status.ConsecutiveFailures = 0
	}
	history := []v1alpha1.HistoryEntry{{
		Time: *status.LastAuditTime, Verdict: s.outcome.Verdict, Reason: excerpt.Line(reason, maxWord),
		Trigger: s.run.Reason, Run: s.run.Name, Assurance: level(s.outcome.Assurance), ImageDigest: s.resolved, ManifestDigest: s.outcome.ManifestDigest,
	}}
	status.History = append(history, status.History[:min(len(status.History), v1alpha1.MaxHistory-1)]...)
}

// assurance is nil if there is none, as without a report.
func assurance(of report.Assurance) *report.Assurance {
	if of.Level == "" {
		return nil
	}
	cut := report.Assurance{Level: level(of), Tools: excerpt.Line(of.Tools, maxShare)}
	for _, why := range of.Because[:min(len(of.Because), v1alpha1.MaxBecause)] {
		cut.Because = append(cut.Because, excerpt.Line(why, maxBecause))
	}
	return &cut
}

// exposure is nil for a report of an earlier version.
func exposure(r *report.Report) *v1alpha1.ExposureSummary {
	of := r.Exposure
	if of == nil {
		return nil
	}
	cut := v1alpha1.ExposureSummary{
		Score: int32(of.Score), Level: report.RiskLevel(excerpt.Line(string(of.Level), maxLevel)), UntriedGuards: excerpt.Line(r.UntriedGuards(), maxUntried),
	}
	kinds := of.Kinds()
	for _, k := range kinds[:min(len(kinds), v1alpha1.MaxExposed)] {
		cut.Kinds = append(cut.Kinds, report.Exposed{
			Kind: report.ExposureKind(excerpt.Line(string(k.Kind), maxKind)), Reach: report.Reach(excerpt.Line(string(k.Reach), maxLevel)),
		})
	}
	for _, c := range of.Combinations[:min(len(of.Combinations), v1alpha1.MaxCombinations)] {
		cut.Combinations = append(cut.Combinations, report.CombinationName(excerpt.Line(string(c.Name), maxKind)))
	}
	return &cut
}

func level(of report.Assurance) report.AssuranceLevel {
	return report.AssuranceLevel(excerpt.Line(string(of.Level), maxLevel))
}

// recordAmbiguity records whether the image reference could mean another image than the one
// that ran. An audit that could not get the image keeps the earlier value.
func (s *session) recordAmbiguity() {
	ran := s.audit.Status.Audited
	switch {
	case ran == nil || ran.AmbiguousDigest == "":
		conditions.Remove(s.audit, v1alpha1.ConditionImageAmbiguous)
	case s.resolved == "":
	case len(ran.Digests) == 0:
		s.set(v1alpha1.ConditionImageAmbiguous, conditions.True(v1alpha1.ReasonResolvedByNode, excerpt.Line(fmt.Sprintf(
			"Only the node could resolve the image, to %s, which the operator cannot look into. No workload passes by that digest. "+
				"Add a pull secret for its registry to spec.server.imagePullSecrets.", ran.AmbiguousDigest), maxAmbiguity)))
	default:
		s.set(v1alpha1.ConditionImageAmbiguous, conditions.True(v1alpha1.ReasonAmbiguousIndex, excerpt.Line(fmt.Sprintf(
			"The verdict is about one manifest of the index that the image names, because %s. Pin workloads to that manifest: image: %s",
			s.run.Ambiguous, ran.Pin()), maxAmbiguity)))
	}
}

var phases = map[v1alpha1.Verdict]v1alpha1.Phase{
	v1alpha1.VerdictPass:         v1alpha1.PhasePassed,
	v1alpha1.VerdictFail:         v1alpha1.PhaseFailed,
	v1alpha1.VerdictInconclusive: v1alpha1.PhaseInconclusive,
}

func counts(c report.Counts) *v1alpha1.FindingCounts {
	return &v1alpha1.FindingCounts{
		Critical: int32(c.Critical), High: int32(c.High), Medium: int32(c.Medium), Low: int32(c.Low), Info: int32(c.Info),
		Suppressed: int32(c.Suppressed),
	}
}

// topFindings returns the worst findings, unknown severities first.
func topFindings(findings []report.Finding) []v1alpha1.TopFinding {
	weight := func(s report.Severity) int {
		if rank := s.Rank(); rank >= 0 {
			return rank
		}
		return len(report.Severities)
	}
	sorted := slices.Clone(findings)
	slices.SortStableFunc(sorted, func(a, b report.Finding) int { return weight(b.Severity) - weight(a.Severity) })
	var top []v1alpha1.TopFinding
	for _, f := range sorted[:min(len(sorted), v1alpha1.MaxTopFindings)] {
		top = append(top, v1alpha1.TopFinding{
			Rule: excerpt.Line(f.Rule, maxWord), Severity: excerpt.Line(string(f.Severity), maxWord),
			Capability: excerpt.Line(f.Capability.String(), maxCapability), Message: excerpt.Line(f.Message, maxFindingMessage),
			Evidence: evidence(f.Evidence), Suppressed: suppressed(f.Suppressed),
		})
	}
	return top
}

// suppressed describes a suppression: its end and reason, or that it expired.
func suppressed(by *report.Suppressed) string {
	switch {
	case by == nil:
		return ""
	case by.Expired:
		return excerpt.Line(fmt.Sprintf("expired %s: %s", by.Until.UTC().Format(time.DateOnly), by.Reason), maxSuppressed)
	}
	return excerpt.Line(fmt.Sprintf("until %s: %s", by.Until.UTC().Format(time.DateOnly), by.Reason), maxSuppressed)
}

// evidence formats the first piece of evidence on one line. A manifest has no pid.
func evidence(all []report.Evidence) string {
	if len(all) == 0 {
		return ""
	}
	who := ""
	if first := all[0]; first.PID != 0 {
		who = fmt.Sprintf(" pid %d", first.PID)
	}
	return excerpt.Line(fmt.Sprintf("%s%s: %s", all[0].Time.UTC().Format("2006-01-02T15:04:05.000Z"), who, all[0].Detail), maxEvidence)
}

func tools(items []report.Item) []v1alpha1.ToolDigest {
	var digests []v1alpha1.ToolDigest
	for _, item := range items[:min(len(items), v1alpha1.MaxTools)] {
		digests = append(digests, v1alpha1.ToolDigest{Name: excerpt.Line(item.Name, maxToolName), Digest: v1alpha1.Digest(item.Digest)})
	}
	return digests
}

func drift(d *report.Drift) *v1alpha1.DriftSummary {
	if d == nil {
		return nil
	}
	names := func(list []string) []string {
		var cut []string
		for _, name := range list[:min(len(list), v1alpha1.MaxDriftItems)] {
			cut = append(cut, excerpt.Line(name, maxDriftItem))
		}
		return cut
	}
	return &v1alpha1.DriftSummary{Added: names(d.Added), Removed: names(d.Removed), Changed: names(d.Changed), Renamed: names(d.Renamed)}
}

func cutMessage(message string) string { return excerpt.Line(message, report.MaxMessageBytes) }
