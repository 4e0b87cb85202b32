package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// ClusterMCPAuditPolicySpec says which MCP servers of the cluster are audited
// without anybody asking for each, and which may run.
//
// +kubebuilder:validation:XValidation:rule="has(self.gate) == has(self.trust)",message="gate and trust go together: trust.auditNamespaces says whose verdicts the gate counts (Same, Selected or All)"
// +kubebuilder:validation:XValidation:rule="!has(self.match) || has(self.gate)",message="match selects what gate is about: give gate as well"
// +kubebuilder:validation:XValidation:rule="!has(self.exposure) || has(self.gate)",message="exposure is for gate, which denies: give gate as well"
type ClusterMCPAuditPolicySpec struct {
	// discovery finds the MCP servers of the cluster, and keeps one MCPServerAudit
	// for each. Absent: nothing is looked for.
	// +optional
	Discovery *Discovery `json:"discovery,omitempty"`

	// match selects the containers that gate is about. Absent: all.
	// +optional
	Match *ClusterMatch `json:"match,omitempty"`

	// gate says what the audits of servers have to be like for them to run. Absent:
	// the policy denies nothing.
	// +optional
	Gate *Gate `json:"gate,omitempty"`

	// exposure bounds for gate what the servers may enable whoever calls them to do. Absent:
	// anything.
	// +optional
	Exposure *ExposureLimit `json:"exposure,omitempty"`

	// trust says whose verdicts count for gate. It has no default: where tenants write
	// the audits of their own namespace, they say what their servers declare.
	// +optional
	Trust *Trust `json:"trust,omitempty"`
}

// Discovery says where servers are looked for, and how they are audited.
type Discovery struct {
	// sources are the kinds of objects that are looked at. Absent: all of them. One
	// whose CRD is not installed is waited for.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	Sources []DiscoverySource `json:"sources,omitempty"`

	// namespaceSelector selects the namespaces by their labels. Absent: all of them.
	// The namespaces of the operator itself are never looked at.
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`

	// template holds what the audits have in common.
	// +optional
	// +kubebuilder:default={}
	Template AuditTemplate `json:"template,omitzero"`

	// max is how many servers are audited at most. The oldest are; the others are
	// told in the status.
	// +optional
	// +kubebuilder:default=100
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=5000
	Max int32 `json:"max,omitempty"`
}

// DiscoverySource is a kind of objects in which servers are found: Workload is
// Deployments, StatefulSets and DaemonSets with the label mcpaudit.dev/server;
// ToolHive, Kmcp and MCPLifecycle are the MCPServers of toolhive.stacklok.dev,
// kagent.dev and mcp.x-k8s.io.
// +kubebuilder:validation:Enum=Workload;ToolHive;Kmcp;MCPLifecycle
type DiscoverySource string

// The sources.
const (
	SourceWorkload     DiscoverySource = "Workload"
	SourceToolHive     DiscoverySource = "ToolHive"
	SourceKmcp         DiscoverySource = "Kmcp"
	SourceMCPLifecycle DiscoverySource = "MCPLifecycle"
)

// DiscoverySources are all sources, in the order in which the status has them.
var DiscoverySources = []DiscoverySource{SourceWorkload, SourceToolHive, SourceKmcp, SourceMCPLifecycle}

// AuditTemplate is the part of an MCPServerAudit's spec that several servers can
// have in common. What is absent is left to the default, or to who edits an audit.
type AuditTemplate struct {
	// schedule of the audits: a server that changes its manifest is found by the next
	// one. Once a day by default.
	// +optional
	// +kubebuilder:default={interval: "24h0m0s"}
	Schedule *Schedule `json:"schedule,omitempty"`

	// baseline of the audits. Pinned is missing: a digest is one server's.
	// +optional
	Baseline *BaselineTemplate `json:"baseline,omitempty"`

	// failOn of the audits.
	// +optional
	FailOn FailOn `json:"failOn,omitempty"`

	// minAssurance of the audits.
	// +optional
	// +kubebuilder:validation:Enum=Full;Partial;Weak
	MinAssurance report.AssuranceLevel `json:"minAssurance,omitempty"`

	// timeout of the audits.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('10s') && duration(self) <= duration('1h')",message="timeout must be between 10s and 1h"
	Timeout *metav1.Duration `json:"timeout,omitempty"`

	// historyLimit of the audits.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=20
	HistoryLimit *int32 `json:"historyLimit,omitempty"`

	// retryLimit of the audits.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	RetryLimit *int32 `json:"retryLimit,omitempty"`

	// suspend all of the audits.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// probe bounds how the servers are exercised.
	// +optional
	Probe *ProbeTemplate `json:"probe,omitempty"`

	// sandbox of the audits.
	// +optional
	Sandbox *Sandbox `json:"sandbox,omitempty"`
}

// BaselineTemplate is the baseline of servers that nobody has reviewed yet.
type BaselineTemplate struct {
	// mode is TrustOnFirstUse or None. A person who pins one audit wins: then the
	// audit's own baseline is left as it is.
	// +required
	// +kubebuilder:validation:XValidation:rule="self != 'Pinned'",message="a digest is one server's: pin it in the MCPServerAudit itself, which a policy leaves alone"
	Mode BaselineMode `json:"mode"`
}

// ProbeTemplate is the part of a Probe that is about no server in particular.
type ProbeTemplate struct {
	// calls says which tools may be called.
	// +optional
	Calls ProbeCalls `json:"calls,omitempty"`

	// rounds is how often everything is exercised.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Rounds int32 `json:"rounds,omitempty"`

	// maxCallsPerTool is how often one tool is called at most, over all rounds.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxCallsPerTool int32 `json:"maxCallsPerTool,omitempty"`

	// callTimeout is how long a call may take.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('10m')",message="callTimeout must be between 1s and 10m"
	CallTimeout *metav1.Duration `json:"callTimeout,omitempty"`
}

// MaxSkipped is how many servers that are not audited the status names.
const MaxSkipped = 50

// ClusterMCPAuditPolicyStatus reports what came of a policy.
type ClusterMCPAuditPolicyStatus struct {
	// observedGeneration is the generation of the spec that this status is about; -1
	// before the first.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions: Ready, its parts Discovered and Gated as far as the spec has them, and
	// while they are true Reconciling and Stalled.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// discovery reports what was found.
	// +optional
	Discovery *DiscoveryStatus `json:"discovery,omitempty"`

	// gate reports on what runs already.
	// +optional
	Gate *GateStatus `json:"gate,omitempty"`
}

// DiscoveryStatus counts what was found: discovered is audited and skipped.
type DiscoveryStatus struct {
	// discovered servers.
	Discovered int32 `json:"discovered"`
	// audited servers: each has an MCPServerAudit of this policy.
	Audited int32 `json:"audited"`
	// skipped servers.
	Skipped int32 `json:"skipped"`

	// sources that are looked at.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=4
	Sources []DiscoverySourceStatus `json:"sources,omitempty"`

	// skippedServers are the first of the servers that are not audited, by namespace
	// and name.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	SkippedServers []SkippedServer `json:"skippedServers,omitempty"`
}

// DiscoverySourceStatus is the state of one source.
type DiscoverySourceStatus struct {
	// name of the source.
	Name DiscoverySource `json:"name"`
	// state of the source.
	State DiscoverySourceState `json:"state"`
	// discovered servers.
	Discovered int32 `json:"discovered"`
	// message says why the source cannot be read.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
}

// DiscoverySourceState is Watched, Pending (it is being read for the first time, or
// cannot be), or NotServed (its CRD is not installed).
// +kubebuilder:validation:Enum=Watched;Pending;NotServed
type DiscoverySourceState string

// The states of a source.
const (
	SourceWatched   DiscoverySourceState = "Watched"
	SourcePending   DiscoverySourceState = "Pending"
	SourceNotServed DiscoverySourceState = "NotServed"
)

// SkippedServer is a server that is not audited.
type SkippedServer struct {
	// kind of the object, with its group: "Deployment.apps".
	// +kubebuilder:validation:MaxLength=128
	Kind string `json:"kind"`
	// namespace of the object.
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`
	// name of the object.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// reason in a word.
	Reason SkipReason `json:"reason"`
	// message says the reason in a sentence.
	// +kubebuilder:validation:MaxLength=320
	Message string `json:"message"`
}

// SkipReason says in a word why a server is not audited.
// +kubebuilder:validation:Enum=NotAuditable;BeyondMax;OtherPolicy;Duplicate;NameTaken;Refused
type SkipReason string

// The reasons for which a server is not audited.
const (
	// SkipNotAuditable: its object does not say how it is run, or says it in a way
	// that an audit cannot follow.
	SkipNotAuditable SkipReason = "NotAuditable"
	// SkipBeyondMax: spec.discovery.max older ones are audited.
	SkipBeyondMax SkipReason = "BeyondMax"
	// SkipOtherPolicy: an older policy selects it as well.
	SkipOtherPolicy SkipReason = "OtherPolicy"
	// SkipDuplicate: it belongs to another object that was found.
	SkipDuplicate SkipReason = "Duplicate"
	// SkipNameTaken: there is an MCPServerAudit of that name which discovery did not make.
	SkipNameTaken SkipReason = "NameTaken"
	// SkipRefused: the API server refused the audit.
	SkipRefused SkipReason = "Refused"
)

// The parts of Ready of a ClusterMCPAuditPolicy, each written by a controller of its
// own. Ready has the reason of the worse one; of the gate, if both are well.
const (
	// ConditionDiscovered is there with spec.discovery.
	ConditionDiscovered = "Discovered"
	// ConditionGated is there with spec.gate.
	ConditionGated = "Gated"
)

// The reasons of Ready of a ClusterMCPAuditPolicy, besides ReasonInvalidSpec.
const (
	// ReasonDiscovered: every server that was found is audited, or is told to be skipped.
	ReasonDiscovered = "Discovered"
	// ReasonNothingToDo: spec.discovery and spec.gate are absent.
	ReasonNothingToDo = "NothingToDo"
	// ReasonSourcesPending: a source is being read for the first time, or cannot be read.
	ReasonSourcesPending = "SourcesPending"
	// ReasonAuditsPending: audits could not be written; it is tried again.
	ReasonAuditsPending = "AuditsPending"
	// ReasonDiscoveryDisabled: the operator's configuration turns discovery off.
	ReasonDiscoveryDisabled = "DiscoveryDisabled"
)

// ClusterMCPAuditPolicy has the MCP servers of a cluster found and audited, each by
// an MCPServerAudit in its own namespace, and lets only those run whose audit passed.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,path=clustermcpauditpolicies,shortName=cmcppolicy,categories=mcp
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="the name is a label of the audits: it must have no more than 63 characters"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.spec.gate.mode`
// +kubebuilder:printcolumn:name="Violating",type=integer,JSONPath=`.status.gate.violating`
// +kubebuilder:printcolumn:name="Discovered",type=integer,JSONPath=`.status.discovery.discovered`
// +kubebuilder:printcolumn:name="Audited",type=integer,JSONPath=`.status.discovery.audited`
// +kubebuilder:printcolumn:name="Skipped",type=integer,JSONPath=`.status.discovery.skipped`
// +kubebuilder:printcolumn:name="Max",type=integer,JSONPath=`.spec.discovery.max`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
type ClusterMCPAuditPolicy struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what to find.
	// +required
	Spec ClusterMCPAuditPolicySpec `json:"spec"`

	// status reports what came of it.
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status ClusterMCPAuditPolicyStatus `json:"status,omitempty"`
}

// ClusterMCPAuditPolicyList is a list of ClusterMCPAuditPolicy.
// +kubebuilder:object:root=true
type ClusterMCPAuditPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterMCPAuditPolicy `json:"items"`
}

// GetConditions returns the conditions of the status.
func (p *ClusterMCPAuditPolicy) GetConditions() []metav1.Condition { return p.Status.Conditions }
