package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// GateLabel with the value GateEnabled puts a namespace under the gate. Only the groups in
// docs/gate.md may remove it.
const (
	GateLabel   = "mcpaudit.dev/gate"
	GateEnabled = "enabled"
)

// Match selects the containers that a policy treats as MCP servers. All given fields must
// match; an absent field matches everything.
type Match struct {
	// objectSelector selects objects by their labels. A workload is selected if its own labels
	// or those of its Pod template match.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && size(e.values) > 0 : e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || size(e.values) == 0))",message="operators are In and NotIn, with values, and Exists and DoesNotExist, without"
	ObjectSelector *metav1.LabelSelector `json:"objectSelector,omitempty"`

	// images are globs on the full image name, such as "registry.example/mcp/*" or
	// "docker.io/library/notes:*". "*" matches any text without "/", "**" any text. A glob
	// without a tag matches all tags. An image named by digest matches whatever tag the glob has.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	// +kubebuilder:validation:items:Pattern=`^[A-Za-z0-9._:/@*-]+$`
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^([^/]*[*][*]|(localhost|[^/]*[.:*][^/]*)/)')",message="this matches no image: begin with the registry, as in docker.io/library/notes:*"
	Images []string `json:"images,omitempty"`

	// containers are names of containers, init containers, ephemeral containers and image
	// volumes. The server of an MCPServer object matches any name.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Containers []string `json:"containers,omitempty"`
}

// ClusterMatch is a Match that also selects namespaces. Only namespaces with the label
// mcpaudit.dev/gate=enabled are ever gated.
type ClusterMatch struct {
	// namespaceSelector selects namespaces by their labels, among those with the label
	// mcpaudit.dev/gate=enabled. If absent, all of them.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && size(e.values) > 0 : e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || size(e.values) == 0))",message="operators are In and NotIn, with values, and Exists and DoesNotExist, without"
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`

	Match `json:",inline"`
}

// Gate says which verdicts a server needs to run.
type Gate struct {
	// mode is Enforce (deny violations), Warn (admit them with a warning to the client) or Audit
	// (admit them and only write an audit annotation). Enforce by default.
	// +optional
	// +kubebuilder:default=Enforce
	Mode GateMode `json:"mode,omitempty"`

	// failOn is the lowest severity of a finding that denies, whatever failOn the audit itself
	// has. With Never, findings deny nothing. High by default.
	// +optional
	// +kubebuilder:default=High
	FailOn FailOn `json:"failOn,omitempty"`

	// minAssurance is the lowest assurance that a verdict may rest on: Full, Partial or Weak. A
	// verdict without one, by an earlier version of the operator, is denied. If absent, the
	// minAssurance of the audit decides.
	// +optional
	// +kubebuilder:validation:Enum=Full;Partial;Weak
	MinAssurance report.AssuranceLevel `json:"minAssurance,omitempty"`

	// onMissing applies to an image without a trusted verdict, and to one named by a tag: what
	// was audited and what will be pulled may differ. Deny by default.
	// +optional
	// +kubebuilder:default=Deny
	OnMissing GateAction `json:"onMissing,omitempty"`

	// onOtherCommand applies to an image that was audited with another command, args,
	// environment or working directory. Deny by default.
	// +optional
	// +kubebuilder:default=Deny
	OnOtherCommand GateAction `json:"onOtherCommand,omitempty"`

	// onAltered applies to a container that starts as its image was audited but can run other
	// code: through variables that load code, a mount over audited code, another working
	// directory, or hooks and probes that execute commands. It also applies to a Pass after less
	// exercise than the default. Allow by default; Deny is the strict mode of the gate.
	// +optional
	// +kubebuilder:default=Allow
	OnAltered GateAction `json:"onAltered,omitempty"`

	// onInconclusive applies if the audit could not observe everything. LastVerdict applies the
	// last conclusive verdict on the same digest, with a warning. Deny by default.
	// +optional
	// +kubebuilder:default=Deny
	OnInconclusive InconclusiveAction `json:"onInconclusive,omitempty"`

	// onDrift applies if the manifest is not the baseline's. Deny by default.
	// +optional
	// +kubebuilder:default=Deny
	OnDrift GateAction `json:"onDrift,omitempty"`

	// onStale applies to a verdict that is older than maxAge, or is not renewed because its
	// audit is suspended or its spec is invalid. Deny by default.
	// +optional
	// +kubebuilder:default=Deny
	OnStale GateAction `json:"onStale,omitempty"`

	// maxAge limits the age of a verdict, at least 1h. If absent, there is no limit.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1h')",message="maxAge must be 1h or more"
	MaxAge *metav1.Duration `json:"maxAge,omitempty"`

	// targets are the kinds of objects that are checked: Pods, Workloads (the controllers of
	// Pods) and MCPServers (the objects of ToolHive, kmcp and mcp.x-k8s.io). If absent, all.
	// Without Pods, bare Pods are not checked.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=3
	Targets []GateTarget `json:"targets,omitempty"`

	// offline says what the API server enforces through a ValidatingAdmissionPolicy, even while
	// the operator does not answer. DenyFailed denies images with a failed audit, RequirePassed
	// denies images without a passing one, None denies nothing. Modes Warn and Audit apply to it
	// too. DenyFailed by default.
	// +optional
	// +kubebuilder:default=DenyFailed
	Offline OfflineGate `json:"offline,omitempty"`
}

// ExposureLimit bounds what servers may enable their callers to do, declared or not
// (docs/exposure.md). A verdict without exposure, by an earlier version of the operator, is
// denied.
//
// +kubebuilder:validation:XValidation:rule="has(self.maxLevel) || has(self.deny)",message="give maxLevel, deny or both: without either nothing is denied"
type ExposureLimit struct {
	// maxLevel is the highest admitted level of exposure: None, Low, Medium or High. If absent,
	// any level is admitted.
	// +optional
	// +kubebuilder:validation:Enum=None;Low;Medium;High
	MaxLevel report.RiskLevel `json:"maxLevel,omitempty"`

	// deny lists kinds of exposure that are denied at any level.
	// +optional
	// +listType=map
	// +listMapKey=kind
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10
	Deny []DeniedExposure `json:"deny,omitempty"`
}

// DeniedExposure is a kind of exposure that is denied.
type DeniedExposure struct {
	// kind of exposure.
	// +required
	// +kubebuilder:validation:Enum=CommandExecution;CodeExecution;FileRead;FileWrite;FileDelete;NetworkEgress;DatabaseQuery;Secrets;UntrustedContent;Messaging
	Kind report.ExposureKind `json:"kind"`

	// reach is the least reach that is denied: Arbitrary, Partial, Bounded or Fixed, from the
	// furthest. Partial also denies Arbitrary; Fixed, the default, denies any reach.
	// +optional
	// +kubebuilder:default=Fixed
	// +kubebuilder:validation:Enum=Arbitrary;Partial;Bounded;Fixed
	Reach report.Reach `json:"reach,omitempty"`
}

// GateMode says how violations are handled.
// +kubebuilder:validation:Enum=Enforce;Warn;Audit
type GateMode string

// The modes.
const (
	GateEnforce GateMode = "Enforce"
	GateWarn    GateMode = "Warn"
	GateAudit   GateMode = "Audit"
)

// GateAction says how one kind of violation is handled.
// +kubebuilder:validation:Enum=Deny;Warn;Allow
type GateAction string

// The actions.
const (
	ActionDeny  GateAction = "Deny"
	ActionWarn  GateAction = "Warn"
	ActionAllow GateAction = "Allow"
)

// InconclusiveAction is a GateAction, or LastVerdict: the last conclusive verdict on the
// same digest in the audit's history counts, with a warning.
// +kubebuilder:validation:Enum=Deny;Warn;Allow;LastVerdict
type InconclusiveAction string

// ActionLastVerdict exists for inconclusive audits only.
const ActionLastVerdict InconclusiveAction = "LastVerdict"

// GateTarget is a kind of objects that the gate checks.
// +kubebuilder:validation:Enum=Pods;Workloads;MCPServers
type GateTarget string

// The targets.
const (
	TargetPods       GateTarget = "Pods"
	TargetWorkloads  GateTarget = "Workloads"
	TargetMCPServers GateTarget = "MCPServers"
)

// OfflineGate says what the API server enforces without the operator.
// +kubebuilder:validation:Enum=None;DenyFailed;RequirePassed
type OfflineGate string

// The choices of OfflineGate.
const (
	OfflineNone          OfflineGate = "None"
	OfflineDenyFailed    OfflineGate = "DenyFailed"
	OfflineRequirePassed OfflineGate = "RequirePassed"
)

// Trust says whose verdicts count.
//
// +kubebuilder:validation:XValidation:rule="(self.auditNamespaces == 'Selected') == has(self.namespaceSelector)",message="namespaceSelector is for auditNamespaces Selected, which needs it"
type Trust struct {
	// auditNamespaces is Same (the namespace of the workload), Selected (those of
	// namespaceSelector) or All. Anyone who may write an MCPServerAudit there decides what its
	// server is declared to do.
	// +required
	AuditNamespaces AuditNamespaces `json:"auditNamespaces"`

	// namespaceSelector selects namespaces by their labels, for auditNamespaces Selected.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && size(e.values) > 0 : e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || size(e.values) == 0))",message="operators are In and NotIn, with values, and Exists and DoesNotExist, without"
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`

	// allowSuppressions accepts the suppressions of audits. By default, suppressed findings
	// count for the gate.
	// +optional
	AllowSuppressions bool `json:"allowSuppressions,omitempty"`

	// ignoreExceptions stops every MCPAuditException from admitting what this policy denies.
	// +optional
	IgnoreExceptions bool `json:"ignoreExceptions,omitempty"`
}

// AuditNamespaces says audits of which namespaces count.
// +kubebuilder:validation:Enum=Same;Selected;All
type AuditNamespaces string

// The choices of AuditNamespaces.
const (
	AuditsSame     AuditNamespaces = "Same"
	AuditsSelected AuditNamespaces = "Selected"
	AuditsAll      AuditNamespaces = "All"
)

// MaxRunning is the most running containers that the status of a policy names.
const MaxRunning = 50

// GateStatus reports on containers that already run. The gate never stops them.
type GateStatus struct {
	// containers that run and match the policy.
	Containers int32 `json:"containers"`
	// violating containers, which would be denied now.
	Violating int32 `json:"violating"`
	// running are up to 50 of the violating containers, by namespace and name.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Running []RunningViolation `json:"running,omitempty"`
}

// RunningViolation is a container that runs and would be denied.
type RunningViolation struct {
	// namespace of the Pod.
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`
	// owner of the Pod, such as "ReplicaSet/notes-5d9c"; the Pod itself if it has none.
	// +kubebuilder:validation:MaxLength=320
	Owner string `json:"owner"`
	// container's name.
	// +kubebuilder:validation:MaxLength=63
	Container string `json:"container"`
	// image as the Pod names it.
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image"`
	// imageID as the kubelet reports it.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	ImageID string `json:"imageID,omitempty"`
	// reason in one word.
	Reason GateReason `json:"reason"`
	// pods counts the Pods of that owner with such a container.
	Pods int32 `json:"pods"`
}

// GateReason says in one word what the gate found about an image.
// +kubebuilder:validation:Enum=Passed;Failed;Drifted;Inconclusive;Stale;NotAudited;OtherCommand;OtherEnvironment;Altered;LittleExercised;WeaklyExercised;ExposureUnknown;Exposed;OtherPlatform;NoDigest;Unreadable;Excepted
type GateReason string

// The reasons of the gate, from good to bad.
const (
	// GatePassed: a trusted audit passed.
	GatePassed GateReason = "Passed"
	// GateExcepted: an MCPAuditException admits it.
	GateExcepted GateReason = "Excepted"
	// GateStale: the verdict is too old, or is no longer renewed.
	GateStale GateReason = "Stale"
	// GateInconclusive: the audit could not observe everything.
	GateInconclusive GateReason = "Inconclusive"
	// GateOtherPlatform: the image was audited on one platform, and may run on another.
	GateOtherPlatform GateReason = "OtherPlatform"
	// GateOtherCommand: the image was audited with another command.
	GateOtherCommand GateReason = "OtherCommand"
	// GateOtherEnvironment: the image was audited with another environment or working
	// directory.
	GateOtherEnvironment GateReason = "OtherEnvironment"
	// GateAltered: the container can run code that the audit did not see.
	GateAltered GateReason = "Altered"
	// GateLittleExercised: the audit passed after less exercise than the default.
	GateLittleExercised GateReason = "LittleExercised"
	// GateWeaklyExercised: the verdict rests on less than the policy's minAssurance.
	GateWeaklyExercised GateReason = "WeaklyExercised"
	// GateExposureUnknown: the policy limits exposure, and the verdict records none, or one from
	// less exercise than the default.
	GateExposureUnknown GateReason = "ExposureUnknown"
	// GateUnreadable: the object cannot be read, or takes too long to judge.
	GateUnreadable GateReason = "Unreadable"
	// GateNotAudited: no trusted audit has a verdict.
	GateNotAudited GateReason = "NotAudited"
	// GateNoDigest: the image is named by a tag, or by a digest that may be another image
	// elsewhere, so no verdict is about what will run.
	GateNoDigest GateReason = "NoDigest"
	// GateExposed: the server enables more than the policy allows.
	GateExposed GateReason = "Exposed"
	// GateDrifted: the manifest is not the baseline's.
	GateDrifted GateReason = "Drifted"
	// GateFailed: findings reach the policy's failOn.
	GateFailed GateReason = "Failed"
)

// The reasons of Ready of policies with a gate.
const (
	// ReasonGating: the policy is in force.
	ReasonGating = "Gating"
	// ReasonRunningViolations: the policy is in force, and would deny containers that already run.
	ReasonRunningViolations = "RunningViolations"
	// ReasonPodsPending: the policy is in force, but running Pods could not be listed.
	ReasonPodsPending = "PodsPending"
	// ReasonNamespaceNotGated: the MCPAuditPolicy has no effect, because its namespace lacks the
	// label mcpaudit.dev/gate=enabled.
	ReasonNamespaceNotGated = "NamespaceNotGated"
	// ReasonOfflineGatePending: the ValidatingAdmissionPolicy could not be written; the
	// controller tries again.
	ReasonOfflineGatePending = "OfflineGatePending"
)
