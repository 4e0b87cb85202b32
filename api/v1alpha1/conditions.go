package v1alpha1

import (
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// The condition types of an MCPServerAudit; AuditConditions has their reasons. Each
// condition carries the generation of the spec that it is about, so `kubectl wait` is not
// answered by the verdict on an older spec.
const (
	// ConditionReady sums up the audit: the server may be used. It is Unknown only before the
	// first verdict.
	ConditionReady = "Ready"
	// ConditionAudited says whether the last audit could observe everything.
	ConditionAudited = "Audited"
	// ConditionScopeConformant says whether the server kept to spec.declaredScope.
	ConditionScopeConformant = "ScopeConformant"
	// ConditionManifestStable says whether what the server advertises is its baseline.
	ConditionManifestStable = "ManifestStable"
	// ConditionAuditing says whether an audit is in progress.
	ConditionAuditing = "Auditing"
	// ConditionImageAmbiguous is present, and True, only if spec.server.image could stand for
	// several images. The verdict is about the one that ran; the message names the digest to pin.
	ConditionImageAmbiguous = "ImageAmbiguous"
	// ConditionReconciling is present, and True, only until the first verdict (kstatus).
	// Auditing a decided object again never sets it.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is present, and True, only while nothing will change unless somebody
	// acts (kstatus).
	ConditionStalled = "Stalled"
)

// +kubebuilder:object:generate=false

// ConditionReasons lists the reasons that a condition may have with each status.
type ConditionReasons struct {
	Type                 string
	True, False, Unknown []string
	// Abnormal: the condition is present only while it is True, and True is a problem.
	Abnormal bool
}

// AuditConditions has a row for each condition of an MCPServerAudit. The reasons of
// Audited=False are those of report.Causes.
var AuditConditions = []ConditionReasons{
	{
		Type: ConditionReady,
		True: []string{ReasonPassed},
		False: []string{
			ReasonFindingsAboveThreshold, ReasonScopeExceeded, ReasonManifestDrifted, ReasonAuditInconclusive,
			ReasonImageUnresolvable, ReasonInvalidSpec, ReasonNotAllowed, ReasonSuspended,
		},
		Unknown: unfinished,
	},
	{Type: ConditionAudited, True: []string{ReasonCompleted}, Unknown: []string{ReasonNotYetAudited}},
	{
		Type: ConditionScopeConformant, True: []string{ReasonWithinScope, ReasonNoScopeDeclared},
		False: []string{ReasonScopeExceeded}, Unknown: []string{ReasonAuditIncomplete, ReasonNotYetAudited},
	},
	{
		Type: ConditionManifestStable, True: []string{ReasonMatchesBaseline, ReasonFirstUse},
		False: []string{ReasonManifestDrifted, ReasonBaselineMismatch}, Unknown: []string{ReasonNoBaseline, ReasonManifestIncomplete, ReasonNotYetAudited},
	},
	{Type: ConditionAuditing, True: unfinished, False: []string{ReasonIdle}},
	{Type: ConditionImageAmbiguous, Abnormal: true, True: []string{ReasonAmbiguousIndex, ReasonResolvedByNode}},
}

// unfinished are the reasons while an audit waits, runs or is read.
var unfinished = []string{
	ReasonPending, ReasonResolvingImage, ReasonQueued, ReasonQuotaExceeded, ReasonRunNamespaceUnusable, ReasonAuditPodRefused,
	ReasonRunning, ReasonCollecting,
}

// ReasonsOf returns the row of a condition of an MCPServerAudit.
func ReasonsOf(conditionType string) ConditionReasons {
	i := slices.IndexFunc(AuditConditions, func(c ConditionReasons) bool { return c.Type == conditionType })
	return AuditConditions[i]
}

// The reasons of Ready.
const (
	// ReasonPassed: the audit was complete and nothing reached the threshold.
	ReasonPassed = "Passed"
	// ReasonFindingsAboveThreshold: a finding reached spec.failOn.
	ReasonFindingsAboveThreshold = "FindingsAboveThreshold"
	// ReasonScopeExceeded: every finding that reached spec.failOn is outside
	// spec.declaredScope. ScopeConformant has it for findings of any severity.
	ReasonScopeExceeded = "ScopeExceeded"
	// ReasonManifestDrifted: the manifest is not the baseline's. ManifestStable has it for a
	// baseline that was trusted on first use.
	ReasonManifestDrifted = "ManifestDrifted"
	// ReasonAuditInconclusive: the audit could not observe everything, see Audited.
	ReasonAuditInconclusive = "AuditInconclusive"
	// ReasonImageUnresolvable: the image could not be found, read or pulled.
	ReasonImageUnresolvable = "ImageUnresolvable"
	// ReasonInvalidSpec: the spec asks for something impossible; the message names the field.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonNotAllowed: the operator's configuration does not allow what the spec asks for; the
	// message names the field, the value and the key of the configuration.
	ReasonNotAllowed = "NotAllowed"
	// ReasonSuspended: an audit is due, and spec.suspend is true.
	ReasonSuspended = "Suspended"
	// ReasonPending: the audit has not begun.
	ReasonPending = "Pending"
	// ReasonResolvingImage: the registry has not answered yet, or the manager may not read a
	// pull secret yet.
	ReasonResolvingImage = "ResolvingImage"
	// ReasonQueued: the audit waits for a slot.
	ReasonQueued = "Queued"
	// ReasonQuotaExceeded: the audit Pod does not fit the quota of the run namespace.
	ReasonQuotaExceeded = "QuotaExceeded"
	// ReasonRunNamespaceUnusable: the run namespace is missing, is being deleted, or refuses
	// the manager or the audit Pod.
	ReasonRunNamespaceUnusable = string(report.ReasonRunNamespaceUnusable)
	// ReasonAuditPodRefused: a policy, a webhook or a LimitRange refuses the audit Pod.
	ReasonAuditPodRefused = "AuditPodRefused"
	// ReasonRunning: the audit Pod exists.
	ReasonRunning = "Running"
	// ReasonCollecting: the audit Pod is done, but its report is not yet read or stored.
	ReasonCollecting = "Collecting"
)

// The reasons of Audited while it is True or Unknown; those of False are report.Causes.
const (
	// ReasonCompleted: everything was observed.
	ReasonCompleted = "Completed"
	// ReasonNotYetAudited: there was no audit yet.
	ReasonNotYetAudited = "NotYetAudited"
)

// The reasons of ScopeConformant, besides ReasonScopeExceeded.
const (
	// ReasonWithinScope: everything that was observed is within spec.declaredScope.
	ReasonWithinScope = "WithinScope"
	// ReasonNoScopeDeclared: spec.declaredScope is absent.
	ReasonNoScopeDeclared = "NoScopeDeclared"
	// ReasonAuditIncomplete: nothing outside the scope was observed, but the audit could not
	// observe everything.
	ReasonAuditIncomplete = "AuditIncomplete"
)

// The reasons of ImageAmbiguous.
const (
	// ReasonAmbiguousIndex: the image names an index, from which container runtimes could run
	// different manifests.
	ReasonAmbiguousIndex = "AmbiguousIndex"
	// ReasonResolvedByNode: the registry did not answer the operator, so only the node knows
	// which image it was.
	ReasonResolvedByNode = "ResolvedByNode"
)

// The reasons of ManifestStable and Auditing.
const (
	// ReasonMatchesBaseline: the manifest is the baseline's.
	ReasonMatchesBaseline = "MatchesBaseline"
	// ReasonFirstUse: the manifest of this audit became the baseline.
	ReasonFirstUse = "FirstUse"
	// ReasonBaselineMismatch: the manifest is not the pinned one.
	ReasonBaselineMismatch = "BaselineMismatch"
	// ReasonNoBaseline: there is nothing to compare with.
	ReasonNoBaseline = "NoBaseline"
	// ReasonManifestIncomplete: the manifest could not be listed completely, so it can be
	// neither compared nor trusted.
	ReasonManifestIncomplete = "ManifestIncomplete"
	// ReasonIdle: no audit is in progress.
	ReasonIdle = "Idle"
)
