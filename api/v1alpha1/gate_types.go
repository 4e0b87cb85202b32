package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// GateLabel switches a namespace into the gate: "enabled". Only the groups that
// docs/gate.md tells of may take it away again.
const (
	GateLabel   = "mcpaudit.dev/gate"
	GateEnabled = "enabled"
)

// Match selects the containers that a policy is about, and takes them for MCP
// servers. All that is given has to match; what is absent matches everything.
type Match struct {
	// objectSelector selects objects by their labels. Of a workload those of its Pod
	// template count as well: it is selected if either are.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && size(e.values) > 0 : e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || size(e.values) == 0))",message="operators are In and NotIn, with values, and Exists and DoesNotExist, without"
	ObjectSelector *metav1.LabelSelector `json:"objectSelector,omitempty"`

	// images are globs on the image as it is pulled: "registry.example/mcp/*",
	// "docker.io/library/notes:*". "*" is any text without "/", "**" any text. Without a
	// tag it is any tag; and an image that is named by its digest could have any tag.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=512
	// +kubebuilder:validation:items:Pattern=`^[A-Za-z0-9._:/@*-]+$`
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^([^/]*[*][*]|(localhost|[^/]*[.:*][^/]*)/)')",message="this matches no image: begin with the registry, as in docker.io/library/notes:*"
	Images []string `json:"images,omitempty"`

	// containers are the names of containers, of init and ephemeral containers, and of
	// image volumes. A server of an MCPServer object matches any.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Containers []string `json:"containers,omitempty"`
}

// ClusterMatch is a Match with the namespaces. Only those with the label
// mcpaudit.dev/gate=enabled are ever asked about.
type ClusterMatch struct {
	// namespaceSelector selects the namespaces by their labels. Absent: all that have
	// the label mcpaudit.dev/gate=enabled.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && size(e.values) > 0 : e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || size(e.values) == 0))",message="operators are In and NotIn, with values, and Exists and DoesNotExist, without"
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`

	Match `json:",inline"`
}

// Gate says what the audit of a server has to be like for it to be run.
type Gate struct {
	// mode is Enforce (deny what must not run), Warn (admit it with a warning to
	// whoever applies it) or Audit (admit it, and write an audit annotation only).
	// +optional
	// +kubebuilder:default=Enforce
	Mode GateMode `json:"mode,omitempty"`

	// failOn is the severity from which on a finding denies. The findings are counted
	// again, whatever the audit's own failOn is. Never: findings deny nothing.
	// +optional
	// +kubebuilder:default=High
	FailOn FailOn `json:"failOn,omitempty"`

	// minAssurance is the lowest assurance that a verdict may rest on: Full, Partial or
	// Weak. A verdict that records none, of an operator of an earlier version, is denied
	// as well. Absent: any that its audit passed by.
	// +optional
	// +kubebuilder:validation:Enum=Full;Partial;Weak
	MinAssurance report.AssuranceLevel `json:"minAssurance,omitempty"`

	// onMissing is for an image that no audit that counts has a verdict on. Also for one
	// that is named by a tag: what was audited and what will be pulled may differ.
	// +optional
	// +kubebuilder:default=Deny
	OnMissing GateAction `json:"onMissing,omitempty"`

	// onOtherCommand is for an image that was audited with another command, other args,
	// another environment or another working directory than it is to be run with.
	// +optional
	// +kubebuilder:default=Deny
	OnOtherCommand GateAction `json:"onOtherCommand,omitempty"`

	// onAltered is for a container that is started as its image was audited, and yet can
	// run other code: by variables that load code, a mount over code that the audit saw, another
	// working directory, or hooks and probes that execute commands. Also for a pass that
	// was earned by less exercise than the default. Deny is the strict mode of the gate.
	// +optional
	// +kubebuilder:default=Allow
	OnAltered GateAction `json:"onAltered,omitempty"`

	// onInconclusive is for an audit that could not observe everything.
	// +optional
	// +kubebuilder:default=Deny
	OnInconclusive InconclusiveAction `json:"onInconclusive,omitempty"`

	// onDrift is for a manifest that is not the baseline's.
	// +optional
	// +kubebuilder:default=Deny
	OnDrift GateAction `json:"onDrift,omitempty"`

	// onStale is for a verdict that is older than maxAge, and for one that is not
	// renewed because its audit is suspended or its spec is invalid.
	// +optional
	// +kubebuilder:default=Deny
	OnStale GateAction `json:"onStale,omitempty"`

	// maxAge is how old a verdict may be, from 1h on. Absent: as old as it likes.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1h')",message="maxAge must be 1h or more"
	MaxAge *metav1.Duration `json:"maxAge,omitempty"`

	// targets are the objects that are looked at: Pods, Workloads (what makes Pods), MCPServers (the
	// objects of ToolHive, kmcp and mcp.x-k8s.io). Absent: all of them. Without Pods
	// a server that no workload made is not seen.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=3
	Targets []GateTarget `json:"targets,omitempty"`

	// offline says what the API server enforces by itself, by a
	// ValidatingAdmissionPolicy, also while the operator does not answer: DenyFailed
	// denies images whose audit failed, RequirePassed denies all that have no passing
	// audit, None does nothing. Modes Warn and Audit hold for it as well.
	// +optional
	// +kubebuilder:default=DenyFailed
	Offline OfflineGate `json:"offline,omitempty"`
}

// ExposureLimit bounds what servers may enable whoever calls them to do, whether they declare it or
// not (docs/exposure.md). A verdict that records no exposure, of an operator of an earlier
// version, is denied as well.
//
// +kubebuilder:validation:XValidation:rule="has(self.maxLevel) || has(self.deny)",message="give maxLevel, deny or both: without either nothing is denied"
type ExposureLimit struct {
	// maxLevel is the highest level of exposure that is admitted: None, Low, Medium or High.
	// Absent: any.
	// +optional
	// +kubebuilder:validation:Enum=None;Low;Medium;High
	MaxLevel report.RiskLevel `json:"maxLevel,omitempty"`

	// deny are kinds of exposure that are not admitted, whatever the level.
	// +optional
	// +listType=map
	// +listMapKey=kind
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10
	Deny []DeniedExposure `json:"deny,omitempty"`
}

// DeniedExposure is a kind of exposure that is not admitted.
type DeniedExposure struct {
	// kind of exposure.
	// +required
	// +kubebuilder:validation:Enum=CommandExecution;CodeExecution;FileRead;FileWrite;FileDelete;NetworkEgress;DatabaseQuery;Secrets;UntrustedContent;Messaging
	Kind report.ExposureKind `json:"kind"`

	// reach from which on it is denied, the furthest first: Arbitrary, Partial, Bounded or
	// Fixed, which is any. Partial denies what is Arbitrary as well.
	// +optional
	// +kubebuilder:default=Fixed
	// +kubebuilder:validation:Enum=Arbitrary;Partial;Bounded;Fixed
	Reach report.Reach `json:"reach,omitempty"`
}

// GateMode says what is done about what must not run.
// +kubebuilder:validation:Enum=Enforce;Warn;Audit
type GateMode string

// The modes.
const (
	GateEnforce GateMode = "Enforce"
	GateWarn    GateMode = "Warn"
	GateAudit   GateMode = "Audit"
)

// GateAction says what is done in a case.
// +kubebuilder:validation:Enum=Deny;Warn;Allow
type GateAction string

// The actions.
const (
	ActionDeny  GateAction = "Deny"
	ActionWarn  GateAction = "Warn"
	ActionAllow GateAction = "Allow"
)

// InconclusiveAction is a GateAction, or LastVerdict: then the last conclusive verdict
// on the same digest in the audit's history counts, with a warning.
// +kubebuilder:validation:Enum=Deny;Warn;Allow;LastVerdict
type InconclusiveAction string

// ActionLastVerdict is the action that only an inconclusive audit has.
const ActionLastVerdict InconclusiveAction = "LastVerdict"

// GateTarget is a kind of objects that are looked at.
// +kubebuilder:validation:Enum=Pods;Workloads;MCPServers
type GateTarget string

// The targets.
const (
	TargetPods       GateTarget = "Pods"
	TargetWorkloads  GateTarget = "Workloads"
	TargetMCPServers GateTarget = "MCPServers"
)

// OfflineGate says what the API server enforces by itself.
// +kubebuilder:validation:Enum=None;DenyFailed;RequirePassed
type OfflineGate string

// What the API server enforces by itself.
const (
	OfflineNone          OfflineGate = "None"
	OfflineDenyFailed    OfflineGate = "DenyFailed"
	OfflineRequirePassed OfflineGate = "RequirePassed"
)

// Trust says whose verdicts count.
//
// +kubebuilder:validation:XValidation:rule="(self.auditNamespaces == 'Selected') == has(self.namespaceSelector)",message="namespaceSelector is for auditNamespaces Selected, which needs it"
type Trust struct {
	// auditNamespaces is Same (audits in the namespace of the workload), Selected
	// (those in the namespaces of namespaceSelector) or All. Whoever may write an
	// MCPServerAudit there says what its server declares.
	// +required
	AuditNamespaces AuditNamespaces `json:"auditNamespaces"`

	// namespaceSelector selects the namespaces of Selected by their labels.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && size(e.values) > 0 : e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || size(e.values) == 0))",message="operators are In and NotIn, with values, and Exists and DoesNotExist, without"
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`

	// allowSuppressions lets findings that an audit suppresses count no more. By
	// default they count.
	// +optional
	AllowSuppressions bool `json:"allowSuppressions,omitempty"`

	// ignoreExceptions has no MCPAuditException admit what this policy denies.
	// +optional
	IgnoreExceptions bool `json:"ignoreExceptions,omitempty"`
}

// AuditNamespaces says in which namespaces audits count.
// +kubebuilder:validation:Enum=Same;Selected;All
type AuditNamespaces string

// The namespaces in which audits count.
const (
	AuditsSame     AuditNamespaces = "Same"
	AuditsSelected AuditNamespaces = "Selected"
	AuditsAll      AuditNamespaces = "All"
)

// MaxRunning is how many containers the status of a policy names.
const MaxRunning = 50

// GateStatus reports what a policy's gate sees of what runs already. Nothing that runs is
// ever stopped.
type GateStatus struct {
	// containers that the policy is about and that run.
	Containers int32 `json:"containers"`
	// violating containers: by what is known now they would be denied.
	Violating int32 `json:"violating"`
	// running are the first of the violating containers, by namespace and name.
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
	// owner of the Pod, "ReplicaSet/notes-5d9c"; the Pod itself if
	// nothing made it.
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
	// reason in a word: the case of the gate.
	Reason GateReason `json:"reason"`
	// pods of that owner with such a container.
	Pods int32 `json:"pods"`
}

// GateReason says in a word what the gate found about an image.
// +kubebuilder:validation:Enum=Passed;Failed;Drifted;Inconclusive;Stale;NotAudited;OtherCommand;OtherEnvironment;Altered;LittleExercised;WeaklyExercised;ExposureUnknown;Exposed;OtherPlatform;NoDigest;Excepted
type GateReason string

// The reasons of the gate, from good to bad.
const (
	// GatePassed: an audit that counts passed.
	GatePassed GateReason = "Passed"
	// GateExcepted: an MCPAuditException admits it.
	GateExcepted GateReason = "Excepted"
	// GateStale: the verdict is too old, or is not renewed any more.
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
	// GateLittleExercised: the audit passed by less exercise than the default.
	GateLittleExercised GateReason = "LittleExercised"
	// GateWeaklyExercised: the verdict rests on less than the policy's minAssurance.
	GateWeaklyExercised GateReason = "WeaklyExercised"
	// GateExposureUnknown: the verdict records no exposure, or one of less than the default exercise, and the policy bounds it.
	GateExposureUnknown GateReason = "ExposureUnknown"
	// GateNotAudited: no audit that counts has a verdict.
	GateNotAudited GateReason = "NotAudited"
	// GateNoDigest: the image is named by a tag, or by a digest that may be another image
	// elsewhere, so that no verdict is about what will run.
	GateNoDigest GateReason = "NoDigest"
	// GateExposed: the server enables more than the policy admits.
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
	// ReasonRunningViolations: the policy is in force, and containers run that it
	// would deny.
	ReasonRunningViolations = "RunningViolations"
	// ReasonPodsPending: the policy is in force, and the Pods that run could not be listed.
	ReasonPodsPending = "PodsPending"
	// ReasonNamespaceNotGated: the namespace of an MCPAuditPolicy does not have the label
	// mcpaudit.dev/gate=enabled, so the policy has no effect.
	ReasonNamespaceNotGated = "NamespaceNotGated"
	// ReasonOfflineGatePending: what the API server enforces by itself could not be
	// written; it is tried again.
	ReasonOfflineGatePending = "OfflineGatePending"
)
