package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
)

// MCPServerAuditSpec says which MCP server is audited, how, and against what.
type MCPServerAuditSpec struct {
	// server is the MCP server to audit.
	// +required
	Server Server `json:"server"`

	// baseline is the manifest (tools, prompts, resources, instructions) that the server is held
	// to. By default, the first one that is listed completely.
	// +optional
	// +kubebuilder:default={mode: TrustOnFirstUse}
	Baseline Baseline `json:"baseline,omitzero"`

	// declaredScope lists what the server may do. If absent, the server's manifest decides.
	// +optional
	DeclaredScope *report.DeclaredScope `json:"declaredScope,omitempty"`

	// suppressions accept known findings until a date. These stay in the report and in the
	// counts but do not fail the audit. When a suppression ends, the server is audited again. A
	// changed manifest cannot be suppressed; approve it by baseline.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Suppressions []report.Suppression `json:"suppressions,omitempty"`

	// failOn is the lowest severity of a finding that makes the verdict Fail; High by default.
	// With Never, findings are only recorded. A manifest that differs from the baseline always
	// fails the audit, unless baseline.mode is None.
	// +optional
	// +kubebuilder:default=High
	FailOn FailOn `json:"failOn,omitempty"`

	// minAssurance is the lowest assurance of a Pass: Full, Partial (at least half of the tools
	// accepted a call; the default) or Weak. Below it the verdict is Inconclusive, with reason
	// WeaklyExercised.
	// +optional
	// +kubebuilder:default=Partial
	// +kubebuilder:validation:Enum=Full;Partial;Weak
	MinAssurance report.AssuranceLevel `json:"minAssurance,omitempty"`

	// timeout limits the time that the server is exercised, from 10s to 1h; 5m by default. Pulling
	// images does not count.
	// +optional
	// +kubebuilder:default="5m0s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('10s') && duration(self) <= duration('1h')",message="timeout must be between 10s and 1h"
	Timeout metav1.Duration `json:"timeout,omitzero"`

	// historyLimit is the number of earlier reports to keep, besides the latest report and
	// that of the baseline: 0 to 20, 3 by default.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=20
	HistoryLimit *int32 `json:"historyLimit,omitempty"`

	// schedule says when the server is audited again. If absent, only when something changes.
	// +optional
	Schedule *Schedule `json:"schedule,omitempty"`

	// retryLimit is the number of times in a row that an incomplete audit is retried, if the reason may
	// pass, such as a lost node: 0 to 10, 3 by default. The pauses double from 5 minutes to 6
	// hours.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	RetryLimit *int32 `json:"retryLimit,omitempty"`

	// suspend stops new audits. A running audit is finished, and the verdict stands until
	// another audit is due.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// probe configures how the server is exercised.
	// +optional
	Probe Probe `json:"probe,omitzero"`

	// sandbox configures the Pod that runs the server. It has no effect with server.url.
	// +optional
	Sandbox Sandbox `json:"sandbox,omitzero"`
}

// BaselineMode says where the baseline comes from.
// +kubebuilder:validation:Enum=Pinned;TrustOnFirstUse;None
type BaselineMode string

// The modes.
const (
	// BaselinePinned: manifestDigest is the baseline. A reviewer approves a manifest by pinning
	// it.
	BaselinePinned BaselineMode = "Pinned"
	// BaselineTrustOnFirstUse: the first manifest that is listed completely becomes the baseline,
	// whatever the verdict: the baseline says what the server advertises, not that it is good.
	// It survives changes of the image. Pinned approves another manifest, None forgets it.
	BaselineTrustOnFirstUse BaselineMode = "TrustOnFirstUse"
	// BaselineNone: the manifest may change. A stored baseline is forgotten.
	BaselineNone BaselineMode = "None"
)

// Baseline is the manifest that the server is held to.
// +kubebuilder:validation:XValidation:rule="self.mode != 'Pinned' || has(self.manifestDigest)",message="mode Pinned needs manifestDigest: copy it from status.manifestDigest of an audit that you have reviewed"
// +kubebuilder:validation:XValidation:rule="self.mode == 'Pinned' || !has(self.manifestDigest)",message="manifestDigest is only used with mode Pinned"
type Baseline struct {
	// mode is Pinned (manifestDigest is the baseline), TrustOnFirstUse (the first complete
	// manifest becomes the baseline; the default) or None (the manifest may change).
	// +optional
	// +kubebuilder:default=TrustOnFirstUse
	Mode BaselineMode `json:"mode,omitempty"`

	// manifestDigest is the approved manifest, copied from status.manifestDigest. Required with
	// mode Pinned.
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

// FailOnNever is the threshold that no finding reaches. The others are report.Severities.
const FailOnNever FailOn = "Never"

// Sandbox configures the Pod that runs the server.
type Sandbox struct {
	// network says what happens to connections to the outside. Sinkhole, the default, answers
	// them inside the sandbox and records what the server sends. Deny refuses them. Allow permits
	// what the Pod's network policies permit.
	// +optional
	// +kubebuilder:default=Sinkhole
	// +kubebuilder:validation:Enum=Sinkhole;Deny;Allow
	Network report.Network `json:"network,omitempty"`

	// tracer is the program that traces the system calls. Auto, the default, is Strace if the
	// runner's image has it, else Ptrace.
	// +optional
	// +kubebuilder:default=Auto
	// +kubebuilder:validation:Enum=Auto;Strace;Ptrace
	Tracer plan.Tracer `json:"tracer,omitempty"`

	// resources of the server's container.
	// +optional
	Resources SandboxResources `json:"resources,omitzero"`

	// runtimeClassName of the audit Pod, such as a sandboxed runtime that permits tracing.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	RuntimeClassName string `json:"runtimeClassName,omitempty"`

	// podTemplate is merged into the audit Pod after the operator's own template. It says where
	// the Pod runs, never what it may do.
	// +optional
	PodTemplate *PodTemplate `json:"podTemplate,omitempty"`
}

// SandboxResources limits the resources of the server's container.
type SandboxResources struct {
	// limits of cpu, memory and ephemeral-storage. The operator's configuration has the
	// defaults: 1 CPU, 512Mi and 1Gi unless changed.
	// +optional
	// +kubebuilder:validation:MaxProperties=3
	// +kubebuilder:validation:XValidation:rule="self.all(k, k in ['cpu', 'memory', 'ephemeral-storage'])",message="limits may be given for cpu, memory and ephemeral-storage"
	Limits corev1.ResourceList `json:"limits,omitempty"`
}

// MCPServerAudit runs an MCP server in a sandbox Pod, exercises everything that it
// advertises, traces its system calls, and records a verdict: whether the server did only
// what it declares.
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

	// TrimmedSpec is the digest of the full spec, on objects in the operator's cache whose spec
	// was too large to keep whole. It is never serialised, so nobody else can set it.
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
