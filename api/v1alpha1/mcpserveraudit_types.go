package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// MCPServerAuditSpec says which MCP server is audited, against what, and how
// its verdict is found.
type MCPServerAuditSpec struct {
	// server is the MCP server to audit.
	// +required
	Server Server `json:"server"`

	// baseline is the manifest (tools, prompts, resources, instructions) that
	// the server is held to.
	// +optional
	// +kubebuilder:default={mode: TrustOnFirstUse}
	Baseline Baseline `json:"baseline,omitzero"`

	// declaredScope lists what the server may do. Without it, what the manifest
	// declares is what counts.
	// +optional
	DeclaredScope *report.DeclaredScope `json:"declaredScope,omitempty"`

	// suppressions are findings that are known and accepted for a time. They stay
	// in the report and in the counts, and do not fail the audit. When one ends, the
	// server is audited again. A changed manifest is not suppressed but approved: see
	// baseline.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Suppressions []report.Suppression `json:"suppressions,omitempty"`

	// failOn is the lowest severity of a finding that makes the verdict Fail.
	// Never only records. A manifest that differs from its baseline fails the
	// audit whatever the threshold: baseline.mode None turns that off.
	// +optional
	// +kubebuilder:default=High
	FailOn FailOn `json:"failOn,omitempty"`

	// minAssurance is the lowest assurance of a Pass: Full, Partial (at least half of the
	// tools accepted a call) or Weak. With a lower one the verdict is Inconclusive, for
	// the reason WeaklyExercised.
	// +optional
	// +kubebuilder:default=Partial
	// +kubebuilder:validation:Enum=Full;Partial;Weak
	MinAssurance report.AssuranceLevel `json:"minAssurance,omitempty"`

	// timeout is how long the server may be exercised, from 10s to 1h. Pulling
	// images does not count. The default is spelled as Go writes it back, so that
	// a client that knows the type changes nothing by an update.
	// +optional
	// +kubebuilder:default="5m0s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('10s') && duration(self) <= duration('1h')",message="timeout must be between 10s and 1h"
	Timeout metav1.Duration `json:"timeout,omitzero"`

	// historyLimit is how many reports of earlier audits are kept besides the
	// latest one and the one that the baseline was taken from.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=20
	HistoryLimit *int32 `json:"historyLimit,omitempty"`

	// schedule is when the server is audited again without anybody asking. Absent:
	// only when something changes.
	// +optional
	Schedule *Schedule `json:"schedule,omitempty"`

	// retryLimit is how many times in a row an audit that could not observe
	// everything, for a reason that may pass (such as a lost node), is made again
	// by itself, after pauses that double from 5 minutes to 6 hours.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	RetryLimit *int32 `json:"retryLimit,omitempty"`

	// suspend stops new audits. One that runs already is finished, and the
	// verdict stands as long as nothing is due.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// probe is how the server is exercised.
	// +optional
	Probe Probe `json:"probe,omitzero"`

	// sandbox is about the Pod in which the server is run. It means nothing for a
	// server that is not run, see server.url.
	// +optional
	Sandbox Sandbox `json:"sandbox,omitzero"`
}

// BaselineMode says where the baseline comes from.
// +kubebuilder:validation:Enum=Pinned;TrustOnFirstUse;None
type BaselineMode string

// The modes.
const (
	// BaselinePinned: manifestDigest is the baseline. This is how a reviewer
	// approves a manifest: by a change of the spec.
	BaselinePinned BaselineMode = "Pinned"
	// BaselineTrustOnFirstUse: the first manifest that was listed completely is
	// the baseline from then on, whatever the verdict of that audit was: the
	// baseline says what the server advertises, not that it is good. It outlives
	// changes of the image. Pinned approves another manifest, None forgets it.
	BaselineTrustOnFirstUse BaselineMode = "TrustOnFirstUse"
	// BaselineNone: the manifest may change, and a stored baseline is forgotten.
	BaselineNone BaselineMode = "None"
)

// Baseline is the manifest that the server is held to.
// +kubebuilder:validation:XValidation:rule="self.mode != 'Pinned' || has(self.manifestDigest)",message="mode Pinned needs manifestDigest: copy it from status.manifestDigest of an audit that you have reviewed"
// +kubebuilder:validation:XValidation:rule="self.mode == 'Pinned' || !has(self.manifestDigest)",message="manifestDigest is only used with mode Pinned"
type Baseline struct {
	// mode is Pinned, TrustOnFirstUse or None.
	// +optional
	// +kubebuilder:default=TrustOnFirstUse
	Mode BaselineMode `json:"mode,omitempty"`

	// manifestDigest is the approved manifest, as status.manifestDigest shows it.
	// +optional
	ManifestDigest Digest `json:"manifestDigest,omitempty"`
}

// Digest is "sha256:" and 64 lower-case hex digits.
// +kubebuilder:validation:MaxLength=71
// +kubebuilder:validation:Pattern=`^sha256:[0-9a-f]{64}$`
type Digest string

// FailOn is a severity, or Never.
// +kubebuilder:validation:Enum=Critical;High;Medium;Low;Info;Never
type FailOn string

// FailOnNever is the threshold that no finding reaches. The others are the
// severities of package report.
const FailOnNever FailOn = "Never"

// Sandbox is about the Pod in which the server is run.
type Sandbox struct {
	// network says what becomes of connections to the outside. Sinkhole answers
	// them itself, so that what the server sends is seen; Deny refuses them;
	// Allow lets them go where the Pod's own network policies let them.
	// +optional
	// +kubebuilder:default=Sinkhole
	Network NetworkMode `json:"network,omitempty"`

	// tracer is the program that watches the system calls. Auto is Strace
	// wherever the runner's image has it.
	// +optional
	// +kubebuilder:default=Auto
	Tracer Tracer `json:"tracer,omitempty"`

	// resources of the server's container.
	// +optional
	Resources SandboxResources `json:"resources,omitzero"`

	// runtimeClassName of the audit Pod, such as that of a sandboxed runtime in
	// which processes can be traced.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	RuntimeClassName string `json:"runtimeClassName,omitempty"`

	// podTemplate is laid over the audit Pod, after that of the operator's
	// configuration. It says where the Pod runs, never what it may do.
	// +optional
	PodTemplate *PodTemplate `json:"podTemplate,omitempty"`
}

// NetworkMode is Sinkhole, Deny or Allow.
// +kubebuilder:validation:Enum=Sinkhole;Deny;Allow
type NetworkMode string

// The network modes.
const (
	NetworkSinkhole NetworkMode = "Sinkhole"
	NetworkDeny     NetworkMode = "Deny"
	NetworkAllow    NetworkMode = "Allow"
)

// Tracer is Auto, Strace or Ptrace.
// +kubebuilder:validation:Enum=Auto;Strace;Ptrace
type Tracer string

// The tracers.
const (
	TracerAuto   Tracer = "Auto"
	TracerStrace Tracer = "Strace"
	// TracerPtrace is the runner's own. It ends with the server still in its
	// hands: a server whose tracer dies is killed by the kernel.
	TracerPtrace Tracer = "Ptrace"
)

// SandboxResources bounds the server's container.
type SandboxResources struct {
	// limits for cpu, memory and ephemeral-storage. What is not given is set by
	// the manager (1 CPU, 512Mi, 1Gi unless configured otherwise).
	// +optional
	// +kubebuilder:validation:MaxProperties=3
	// +kubebuilder:validation:XValidation:rule="self.all(k, k in ['cpu', 'memory', 'ephemeral-storage'])",message="limits may be given for cpu, memory and ephemeral-storage"
	Limits corev1.ResourceList `json:"limits,omitempty"`
}

// MCPServerAudit has an MCP server run in a sandbox Pod, watches every system
// call it makes while all that it advertises is exercised, and keeps the verdict
// on what it did against what it declared.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=mcpaudit;mcpa,categories=mcp
// +kubebuilder:printcolumn:name="Verdict",type=string,JSONPath=`.status.verdict`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Critical",type=integer,JSONPath=`.status.findings.critical`
// +kubebuilder:printcolumn:name="High",type=integer,JSONPath=`.status.findings.high`
// +kubebuilder:printcolumn:name="Risk",type=integer,JSONPath=`.status.riskScore`
// +kubebuilder:printcolumn:name="Tools",type=string,JSONPath=`.status.assurance.tools`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.server.image`
// +kubebuilder:printcolumn:name="Audited",type=date,JSONPath=`.status.lastAuditTime`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Assurance",type=string,priority=1,JSONPath=`.status.assurance.level`
// +kubebuilder:printcolumn:name="Exposure",type=string,priority=1,JSONPath=`.status.exposure.level`
// +kubebuilder:printcolumn:name="Called",type=integer,priority=1,JSONPath=`.status.coverage.tools.called`
// +kubebuilder:printcolumn:name="URL",type=string,priority=1,JSONPath=`.spec.server.url`
// +kubebuilder:printcolumn:name="Next",type=string,priority=1,JSONPath=`.status.nextAuditTime`
// +kubebuilder:printcolumn:name="Phase",type=string,priority=1,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:selectablefield:JSONPath=`.status.imageDigest`
// +kubebuilder:selectablefield:JSONPath=`.status.verdict`
type MCPServerAudit struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what to audit.
	// +required
	Spec MCPServerAuditSpec `json:"spec"`

	// status reports what came of it.
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status MCPServerAuditStatus `json:"status,omitempty"`

	// TrimmedSpec is set on objects of the operator's cache whose spec was too large to
	// keep: the digest of the full spec, of which only a part is left. It is never
	// serialised, so nobody else can set it.
	TrimmedSpec Digest `json:"-"`
}

// MCPServerAuditList is a list of MCPServerAudit.
// +kubebuilder:object:root=true
type MCPServerAuditList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []MCPServerAudit `json:"items"`
}

// GetConditions returns the conditions of the status.
func (a *MCPServerAudit) GetConditions() []metav1.Condition { return a.Status.Conditions }
