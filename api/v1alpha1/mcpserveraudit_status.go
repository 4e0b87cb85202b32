package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// The caps of the lists in the status. controllers/audit also caps texts, in bytes of JSON:
// a status that is full has less than 82 KB.
const (
	MaxTopFindings  = 20
	MaxTools        = 256
	MaxDriftItems   = 32
	MaxHistory      = 10
	MaxBecause      = 4
	MaxExposed      = 12
	MaxCombinations = 2
)

// MCPServerAuditStatus is the outcome of the last audit and the state of the one in
// progress. The MCPAuditReport of reportRef has the details.
type MCPServerAuditStatus struct {
	// observedGeneration is the generation of the spec that this status is about; -1 before the
	// first. It lags behind while a changed spec is audited.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions: Ready, Audited, ScopeConformant, ManifestStable, Auditing, and while they are
	// true ImageAmbiguous, Reconciling and Stalled.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// phase is the state in one word, for people. Programs read the conditions.
	// +optional
	Phase Phase `json:"phase,omitempty"`

	// verdict of the last audit: Pass, Fail or Inconclusive.
	// +optional
	Verdict Verdict `json:"verdict,omitempty"`

	// imageDigest is the digest of the image that ran. If no registry has the image, it is the
	// id that the kubelet reports.
	// +optional
	ImageDigest Digest `json:"imageDigest,omitempty"`

	// audited describes what the last audit ran. If its image could not be pulled, it describes
	// the last run of that image and command. Absent for a server with a URL.
	// +optional
	Audited *AuditedServer `json:"audited,omitempty"`

	// manifestDigest is the digest of what the server advertised in the last audit; empty if
	// that could not be listed completely.
	// +optional
	ManifestDigest Digest `json:"manifestDigest,omitempty"`

	// baselineDigest is the digest of the manifest that the server is held to.
	// +optional
	BaselineDigest Digest `json:"baselineDigest,omitempty"`

	// behaviorDigest is a digest of what the server did in the last audit: hosts, classes of
	// paths, programs. Empty if the audit could not observe everything.
	// +optional
	BehaviorDigest Digest `json:"behaviorDigest,omitempty"`

	// riskScore is 0 (no findings) to 100, from the findings of the last audit that are not
	// suppressed. It does not affect the verdict.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	RiskScore *int32 `json:"riskScore,omitempty"`

	// riskLevel of riskScore: None, Low, Medium, High or Critical.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	RiskLevel string `json:"riskLevel,omitempty"`

	// findings counts the findings of the last audit by severity, including suppressed ones.
	// +optional
	Findings *FindingCounts `json:"findings,omitempty"`

	// topFindings are up to 20 of the findings, worst first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	TopFindings []TopFinding `json:"topFindings,omitempty"`

	// tools are up to 256 of the advertised tools, with the digests of their definitions.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Tools []ToolDigest `json:"tools,omitempty"`

	// drift lists how the manifest differs from the baseline.
	// +optional
	Drift *DriftSummary `json:"drift,omitempty"`

	// coverage counts the capabilities that the server advertises, and those that were exercised.
	// +optional
	Coverage *report.Coverage `json:"coverage,omitempty"`

	// assurance says how much of the server the verdict rests on.
	// +optional
	Assurance *report.Assurance `json:"assurance,omitempty"`

	// exposure lists what the server enables its callers to do, declared or not. It does not affect
	// the verdict; a policy of the gate may deny it.
	// +optional
	Exposure *ExposureSummary `json:"exposure,omitempty"`

	// reportRef names the full report of the last audit; absent if it made none.
	// +optional
	ReportRef *ReportReference `json:"reportRef,omitempty"`

	// trigger is the reason for the last audit.
	// +optional
	Trigger *Trigger `json:"trigger,omitempty"`

	// lastAuditTime is the time of the last verdict.
	// +optional
	LastAuditTime *metav1.Time `json:"lastAuditTime,omitempty"`

	// nextAuditTime is the time at which the next audit is due: by the schedule, as a retry, or because a
	// suppression or the verdict expires. Absent if none is due.
	// +optional
	NextAuditTime *metav1.Time `json:"nextAuditTime,omitempty"`

	// consecutiveFailures counts the incomplete audits in a row.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ConsecutiveFailures int32 `json:"consecutiveFailures,omitempty"`

	// history has up to 10 audits including the last one, latest first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	History []HistoryEntry `json:"history,omitempty"`

	// lastHandledReconcileAt is the value of the annotation mcpaudit.dev/requestedAt that the
	// last audit answered.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	LastHandledReconcileAt string `json:"lastHandledReconcileAt,omitempty"`

	// runner is the program that made the last audit.
	// +optional
	Runner *Runner `json:"runner,omitempty"`
}

// ExposureSummary sums up what a server enables. The report lists it by capability.
type ExposureSummary struct {
	// score is 0 (the server enables nothing) to 100.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Score int32 `json:"score"`
	// level of the score: None, Low, Medium, High or Critical.
	Level report.RiskLevel `json:"level"`
	// kinds of exposure that were observed, each with its furthest reach, the weightiest first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=12
	Kinds []report.Exposed `json:"kinds,omitempty"`
	// combinations of kinds that are worse together: LethalTrifecta, SecretsAndEgress.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2
	Combinations []report.CombinationName `json:"combinations,omitempty"`
	// untriedGuards says why not all guards of the server were tried: arguments may decide more
	// than was observed. Absent if all were tried.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	UntriedGuards string `json:"untriedGuards,omitempty"`
}

// Phase is the state in one word.
// +kubebuilder:validation:Enum=Pending;Running;Passed;Failed;Inconclusive;Suspended
type Phase string

// The phases.
const (
	PhasePending      Phase = "Pending"
	PhaseRunning      Phase = "Running"
	PhasePassed       Phase = "Passed"
	PhaseFailed       Phase = "Failed"
	PhaseInconclusive Phase = "Inconclusive"
	PhaseSuspended    Phase = "Suspended"
)

// Verdict is the outcome of an audit.
type Verdict = report.Verdict

// The verdicts.
const (
	VerdictPass         = report.VerdictPass
	VerdictFail         = report.VerdictFail
	VerdictInconclusive = report.VerdictInconclusive
)

// FindingCounts counts findings by severity, suppressed or not.
type FindingCounts struct {
	// critical findings.
	// +optional
	Critical int32 `json:"critical"`
	// high findings.
	// +optional
	High int32 `json:"high"`
	// medium findings.
	// +optional
	Medium int32 `json:"medium"`
	// low findings.
	// +optional
	Low int32 `json:"low"`
	// info findings.
	// +optional
	Info int32 `json:"info"`
	// suppressed findings. The counts above include them.
	// +optional
	Suppressed int32 `json:"suppressed,omitempty"`
}

// TopFinding is a finding with its first piece of evidence.
type TopFinding struct {
	// rule is the id of the rule, such as MCPA-EGRESS-001.
	// +kubebuilder:validation:MaxLength=64
	Rule string `json:"rule"`
	// severity of the finding.
	// +kubebuilder:validation:MaxLength=64
	Severity string `json:"severity"`
	// capability that was exercised, such as "tool format_note".
	// +kubebuilder:validation:MaxLength=96
	Capability string `json:"capability"`
	// message is the observation in one sentence.
	// +kubebuilder:validation:MaxLength=320
	Message string `json:"message"`
	// evidence is the first observation of the finding: the time, the process and the system
	// call. The report has the others.
	// +optional
	// +kubebuilder:validation:MaxLength=176
	Evidence string `json:"evidence,omitempty"`
	// suppressed says until when and why the finding is suppressed, or since when it no longer
	// is.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Suppressed string `json:"suppressed,omitempty"`
}

// ToolDigest is one advertised tool.
type ToolDigest struct {
	// name of the tool.
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name"`
	// digest of the canonical JSON (RFC 8785) of the tool's definition.
	Digest Digest `json:"digest"`
}

// DriftSummary lists what changed since the baseline, in entries such as "tool format_note".
type DriftSummary struct {
	// added since the baseline.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=96
	Added []string `json:"added,omitempty"`
	// removed since the baseline.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=96
	Removed []string `json:"removed,omitempty"`
	// changed since the baseline.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=96
	Changed []string `json:"changed,omitempty"`
	// renamed since the baseline, as "tool a to tool b". The other lists do not repeat them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=192
	Renamed []string `json:"renamed,omitempty"`
}

// ReportReference names an MCPAuditReport in the namespace of the audit.
type ReportReference struct {
	// name of the MCPAuditReport.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// TriggerReason says why an audit was made.
// +kubebuilder:validation:Enum=NeverAudited;SpecChanged;BaselineChanged;ImageChanged;Requested;SuppressionExpired;RetryDue;RulesetChanged;ScheduleDue;VerdictExpiring
type TriggerReason string

// The reasons of a trigger.
const (
	// TriggerNeverAudited: there is no verdict yet.
	TriggerNeverAudited TriggerReason = "NeverAudited"
	// TriggerSpecChanged: the verdict is about another spec. A change of suspend, historyLimit,
	// schedule or retryLimit needs no audit.
	TriggerSpecChanged TriggerReason = "SpecChanged"
	// TriggerBaselineChanged: the verdict used another spec.baseline.
	TriggerBaselineChanged TriggerReason = "BaselineChanged"
	// TriggerImageChanged: the image's tag no longer names the audited digest.
	TriggerImageChanged TriggerReason = "ImageChanged"
	// TriggerRequested: the annotation mcpaudit.dev/requestedAt has a new value.
	TriggerRequested TriggerReason = "Requested"
	// TriggerSuppressionExpired: a suppression that may have affected the verdict has ended.
	TriggerSuppressionExpired TriggerReason = "SuppressionExpired"
	// TriggerRetryDue: the last audit was incomplete for a reason that may have passed.
	TriggerRetryDue TriggerReason = "RetryDue"
	// TriggerRulesetChanged: the operator's rules are not those that judged.
	TriggerRulesetChanged TriggerReason = "RulesetChanged"
	// TriggerScheduleDue: an audit of spec.schedule is due.
	TriggerScheduleDue TriggerReason = "ScheduleDue"
	// TriggerVerdictExpiring: the verdict will soon exceed the age that the operator's
	// configuration allows.
	TriggerVerdictExpiring TriggerReason = "VerdictExpiring"
)

// Trigger says why an audit was made, and identifies the run.
type Trigger struct {
	// reason in one word.
	Reason TriggerReason `json:"reason"`
	// message explains the reason in one sentence.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
	// run is the name of the audit Pod and of its report.
	// +kubebuilder:validation:MaxLength=63
	Run string `json:"run"`
	// generation of the spec that was audited.
	Generation int64 `json:"generation"`
	// specDigest is a digest of the fields of the spec that affect the outcome, except baseline.
	SpecDigest Digest `json:"specDigest"`
	// imageDigest that the registry gave for the image then; empty if it gave none. If the tag
	// names another digest later, the server is audited again.
	// +optional
	ImageDigest Digest `json:"imageDigest,omitempty"`
	// baseline that the verdict used: the mode, and the digest for Pinned.
	// +optional
	// +kubebuilder:validation:MaxLength=96
	Baseline string `json:"baseline,omitempty"`
	// rulesetDigest of the operator then. status.runner has that of the rules that judged.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	RulesetDigest string `json:"rulesetDigest,omitempty"`
}

// HistoryEntry sums up one audit.
type HistoryEntry struct {
	// time of the verdict.
	Time metav1.Time `json:"time"`
	// verdict of the audit.
	Verdict Verdict `json:"verdict"`
	// reason of the condition Ready, or of Audited if the verdict is Inconclusive.
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason"`
	// trigger is the reason for the audit.
	Trigger TriggerReason `json:"trigger"`
	// run is the name of its report, which may be deleted by now, see spec.historyLimit.
	// +kubebuilder:validation:MaxLength=63
	Run string `json:"run"`
	// assurance says how much of the server the verdict rests on.
	// +optional
	Assurance report.AssuranceLevel `json:"assurance,omitempty"`
	// imageDigest of the image that ran.
	// +optional
	ImageDigest Digest `json:"imageDigest,omitempty"`
	// manifestDigest of what the server advertised.
	// +optional
	ManifestDigest Digest `json:"manifestDigest,omitempty"`
}

// Runner is the program that made an audit, and its tracer.
type Runner struct {
	// version of the runner.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Version string `json:"version,omitempty"`
	// tracer with its version, such as "strace 6.1".
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Tracer string `json:"tracer,omitempty"`
	// rulesetDigest of the rules that judged.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	RulesetDigest string `json:"rulesetDigest,omitempty"`
}
