package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// The caps of the status. Texts are capped in bytes of JSON by controllers/audit,
// so that a status with every cap used has less than 82 KB.
const (
	MaxTopFindings  = 20
	MaxTools        = 256
	MaxDriftItems   = 32
	MaxHistory      = 10
	MaxBecause      = 4
	MaxExposed      = 12
	MaxCombinations = 2
)

// MCPServerAuditStatus is the outcome of the last audit and the state of the
// one in progress. Details are in the MCPAuditReport that reportRef names.
type MCPServerAuditStatus struct {
	// observedGeneration is the generation of the spec that this status has
	// settled; -1 before the first. It lags behind while a changed spec is audited.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions: Ready, Audited, ScopeConformant, ManifestStable, Auditing, and while they are
	// true ImageAmbiguous, Reconciling and Stalled.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// phase is the state in one word, for people; programs read the conditions.
	// +optional
	Phase Phase `json:"phase,omitempty"`

	// verdict of the last audit.
	// +optional
	Verdict Verdict `json:"verdict,omitempty"`

	// imageDigest is the digest by which the audited image was run. For an image
	// that no registry knows it is the id that the kubelet reports.
	// +optional
	ImageDigest Digest `json:"imageDigest,omitempty"`

	// audited describes what the last audit ran. If the image could not be pulled, it is what
	// was run of that image and command before. Absent for a server that runs elsewhere.
	// +optional
	Audited *AuditedServer `json:"audited,omitempty"`

	// manifestDigest is the digest of what the server advertised in the last
	// audit; empty if it could not be listed completely.
	// +optional
	ManifestDigest Digest `json:"manifestDigest,omitempty"`

	// baselineDigest is the manifest that the server is held to.
	// +optional
	BaselineDigest Digest `json:"baselineDigest,omitempty"`

	// behaviorDigest is over what the server did in the last audit: hosts, classes
	// of paths, programs. Empty if the audit could not observe everything.
	// +optional
	BehaviorDigest Digest `json:"behaviorDigest,omitempty"`

	// riskScore is 0 (nothing was found) to 100, made of the findings of the last
	// audit that are not suppressed. No verdict depends on it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	RiskScore *int32 `json:"riskScore,omitempty"`

	// riskLevel is riskScore in a word: None, Low, Medium, High or Critical.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	RiskLevel string `json:"riskLevel,omitempty"`

	// findings counts the findings of the last audit by severity, those that are
	// suppressed as well.
	// +optional
	Findings *FindingCounts `json:"findings,omitempty"`

	// topFindings are the worst findings, worst first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	TopFindings []TopFinding `json:"topFindings,omitempty"`

	// tools are the advertised tools with the digests of their definitions.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Tools []ToolDigest `json:"tools,omitempty"`

	// drift lists what differs from the baseline.
	// +optional
	Drift *DriftSummary `json:"drift,omitempty"`

	// coverage is how much of what the server advertises was exercised.
	// +optional
	Coverage *report.Coverage `json:"coverage,omitempty"`

	// assurance is how much of the server the verdict rests on.
	// +optional
	Assurance *report.Assurance `json:"assurance,omitempty"`

	// exposure is what the server enables whoever calls it to do, declared or not. No verdict
	// depends on it; a policy of the gate may.
	// +optional
	Exposure *ExposureSummary `json:"exposure,omitempty"`

	// reportRef is the full report of the last audit; empty if it made none.
	// +optional
	ReportRef *ReportReference `json:"reportRef,omitempty"`

	// trigger is why the last audit was made.
	// +optional
	Trigger *Trigger `json:"trigger,omitempty"`

	// lastAuditTime is when the last audit was decided.
	// +optional
	LastAuditTime *metav1.Time `json:"lastAuditTime,omitempty"`

	// nextAuditTime is when the next audit is due by itself: by the schedule, as a
	// retry, or because a suppression or the verdict expires. Empty if none will be.
	// +optional
	NextAuditTime *metav1.Time `json:"nextAuditTime,omitempty"`

	// consecutiveFailures is how many audits in a row could not observe everything.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ConsecutiveFailures int32 `json:"consecutiveFailures,omitempty"`

	// history are the last audits, latest first, this one included.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	History []HistoryEntry `json:"history,omitempty"`

	// lastHandledReconcileAt is the value of the annotation
	// mcpaudit.dev/requestedAt that the last audit answered.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	LastHandledReconcileAt string `json:"lastHandledReconcileAt,omitempty"`

	// runner made the last audit.
	// +optional
	Runner *Runner `json:"runner,omitempty"`
}

// ExposureSummary sums up what a server enables; the report has each of its capabilities.
type ExposureSummary struct {
	// score is 0 (it enables nothing) to 100.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Score int32 `json:"score"`
	// level is score in a word: None, Low, Medium, High or Critical.
	Level report.RiskLevel `json:"level"`
	// kinds that were seen, each with its furthest reach, the weightiest first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=12
	Kinds []report.Exposed `json:"kinds,omitempty"`
	// combinations of kinds that are worse together: LethalTrifecta, SecretsAndEgress.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=2
	Combinations []report.CombinationName `json:"combinations,omitempty"`
	// untriedGuards is why the server's guards were not tried, or not all of them: arguments
	// may decide more then than is known. Absent if they were.
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

// Verdict is the outcome of an audit, as the report has it.
type Verdict = report.Verdict

// The verdicts.
const (
	VerdictPass         = report.VerdictPass
	VerdictFail         = report.VerdictFail
	VerdictInconclusive = report.VerdictInconclusive
)

// FindingCounts is the number of findings of each severity, suppressed or not.
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
	// suppressed findings; they are counted by their severities, too.
	// +optional
	Suppressed int32 `json:"suppressed,omitempty"`
}

// TopFinding is a finding with the first of its evidence.
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
	// evidence is the first observation behind the finding: when, by which
	// process, and the system call. The report has the others.
	// +optional
	// +kubebuilder:validation:MaxLength=176
	Evidence string `json:"evidence,omitempty"`
	// suppressed says until when the finding is suppressed, and why; or since when
	// it is not any more.
	// +optional
	// +kubebuilder:validation:MaxLength=80
	Suppressed string `json:"suppressed,omitempty"`
}

// ToolDigest is one advertised tool.
type ToolDigest struct {
	// name of the tool.
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name"`
	// digest over the canonical JSON of the tool's definition.
	Digest Digest `json:"digest"`
}

// DriftSummary lists what changed from the baseline. Entries read "tool format_note".
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
	// renamed since the baseline: "tool a to tool b". They are in no other list.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=192
	Renamed []string `json:"renamed,omitempty"`
}

// ReportReference names the MCPAuditReport of an audit, in its namespace.
type ReportReference struct {
	// name of the MCPAuditReport.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// TriggerReason says in a word why an audit was made.
// +kubebuilder:validation:Enum=NeverAudited;SpecChanged;BaselineChanged;ImageChanged;Requested;SuppressionExpired;RetryDue;RulesetChanged;ScheduleDue;VerdictExpiring
type TriggerReason string

// The reasons of a trigger.
const (
	// TriggerNeverAudited: there is no verdict yet.
	TriggerNeverAudited TriggerReason = "NeverAudited"
	// TriggerSpecChanged: the verdict is about another spec. Changes of suspend,
	// historyLimit, schedule and retryLimit alone need no audit.
	TriggerSpecChanged TriggerReason = "SpecChanged"
	// TriggerBaselineChanged: the verdict was held to another spec.baseline.
	TriggerBaselineChanged TriggerReason = "BaselineChanged"
	// TriggerImageChanged: the tag of the image names another digest than the one
	// that was audited.
	TriggerImageChanged TriggerReason = "ImageChanged"
	// TriggerRequested: the annotation mcpaudit.dev/requestedAt has a new value.
	TriggerRequested TriggerReason = "Requested"
	// TriggerSuppressionExpired: a suppression that the verdict may rest on has ended.
	TriggerSuppressionExpired TriggerReason = "SuppressionExpired"
	// TriggerRetryDue: the last audit could not observe everything, for a reason
	// that may have passed.
	TriggerRetryDue TriggerReason = "RetryDue"
	// TriggerRulesetChanged: the operator has other rules than those that judged.
	TriggerRulesetChanged TriggerReason = "RulesetChanged"
	// TriggerScheduleDue: spec.schedule says so.
	TriggerScheduleDue TriggerReason = "ScheduleDue"
	// TriggerVerdictExpiring: the verdict would soon be older than the operator's
	// configuration lets one be.
	TriggerVerdictExpiring TriggerReason = "VerdictExpiring"
)

// Trigger is why an audit was made, and what identifies it.
type Trigger struct {
	// reason in a word.
	Reason TriggerReason `json:"reason"`
	// message says the reason in a sentence.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Message string `json:"message,omitempty"`
	// run is the name of the audit Pod and of the report.
	// +kubebuilder:validation:MaxLength=63
	Run string `json:"run"`
	// generation of the spec that was audited.
	Generation int64 `json:"generation"`
	// specDigest is over the part of the spec that the outcome depends on, without
	// the baseline.
	SpecDigest Digest `json:"specDigest"`
	// imageDigest that the registry gave for the image at the time; empty if it gave
	// none. Another one behind the same tag has the server audited again.
	// +optional
	ImageDigest Digest `json:"imageDigest,omitempty"`
	// baseline that the verdict was held to: the mode, and for Pinned its digest.
	// +optional
	// +kubebuilder:validation:MaxLength=96
	Baseline string `json:"baseline,omitempty"`
	// rulesetDigest is that of the operator at the time. The rules that judged are
	// those of status.runner.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	RulesetDigest string `json:"rulesetDigest,omitempty"`
}

// HistoryEntry is one audit in a line.
type HistoryEntry struct {
	// time when it was decided.
	Time metav1.Time `json:"time"`
	// verdict of the audit.
	Verdict Verdict `json:"verdict"`
	// reason of the verdict: that of Ready, or of Audited if it is Inconclusive.
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason"`
	// trigger is why it was made.
	Trigger TriggerReason `json:"trigger"`
	// run is the name of its report, while that is kept.
	// +kubebuilder:validation:MaxLength=63
	Run string `json:"run"`
	// assurance is how much of the server the verdict rests on.
	// +optional
	Assurance report.AssuranceLevel `json:"assurance,omitempty"`
	// imageDigest that was run.
	// +optional
	ImageDigest Digest `json:"imageDigest,omitempty"`
	// manifestDigest that was listed.
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
	// rulesetDigest is over the rules that judged.
	// +optional
	// +kubebuilder:validation:MaxLength=71
	RulesetDigest string `json:"rulesetDigest,omitempty"`
}
