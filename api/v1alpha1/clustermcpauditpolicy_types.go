package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// ClusterMCPAuditPolicySpec says which MCP servers of the cluster are audited automatically,
// and which may run.
//
// +kubebuilder:validation:XValidation:rule="has(self.gate) == has(self.trust)",message="gate and trust go together: trust.auditNamespaces says whose verdicts the gate counts (Same, Selected or All)"
// +kubebuilder:validation:XValidation:rule="!has(self.match) || has(self.gate)",message="match selects what gate is about: give gate as well"
// +kubebuilder:validation:XValidation:rule="!has(self.exposure) || has(self.gate)",message="exposure is for gate, which denies: give gate as well"
type ClusterMCPAuditPolicySpec struct {
	// discovery finds the MCP servers of the cluster and keeps an MCPServerAudit for each. If
	// absent, the policy discovers nothing.
	// +optional
	Discovery *Discovery `json:"discovery,omitempty"`

	// match selects the containers that gate applies to. If absent, all.
	// +optional
	Match *ClusterMatch `json:"match,omitempty"`

	// gate says which verdicts a server needs to run. If absent, the policy denies nothing.
	// +optional
	Gate *Gate `json:"gate,omitempty"`

	// exposure limits what servers may enable their callers to do. If absent, there is no limit.
	// +optional
	Exposure *ExposureLimit `json:"exposure,omitempty"`

	// trust says whose verdicts count for gate. It has no default, because the author of an
	// audit, such as a tenant, decides what the server is declared to do.
	// +optional
	Trust *Trust `json:"trust,omitempty"`
}

// Discovery says where servers are looked for, and how they are audited.
type Discovery struct {
	// sources are the kinds of objects to search. If absent, all. A source whose CRD is not
	// installed is searched once it is.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	Sources []DiscoverySource `json:"sources,omitempty"`

	// namespaceSelector selects the namespaces to search by their labels. If absent, all. The
	// operator's own namespaces are never searched.
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`

	// template has the settings that all these audits share.
	// +optional
	// +kubebuilder:default={}
	Template AuditTemplate `json:"template,omitzero"`

	// max is the most servers that are audited, from 1 to 5000. The oldest are taken; the
	// status lists others as skipped. 100 by default.
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

// DiscoverySources lists all sources in the order of the status.
var DiscoverySources = []DiscoverySource{SourceWorkload, SourceToolHive, SourceKmcp, SourceMCPLifecycle}

// AuditTemplate is the part of an MCPServerAudit's spec that several servers can share. An
// absent field keeps its default, or what somebody sets in the audit itself.
type AuditTemplate struct {
	// schedule of the audits. A changed manifest is found by the next scheduled audit. Once a
	// day by default.
	// +optional
	// +kubebuilder:default={interval: "24h0m0s"}
	Schedule *Schedule `json:"schedule,omitempty"`

	// baseline of the audits. It cannot be Pinned, since a digest belongs to one server.
	// +optional
	Baseline *BaselineTemplate `json:"baseline,omitempty"`

	// failOn of the audits, see MCPServerAudit spec.failOn.
	// +optional
	FailOn FailOn `json:"failOn,omitempty"`

	// minAssurance of the audits, see MCPServerAudit spec.minAssurance.
	// +optional
	// +kubebuilder:validation:Enum=Full;Partial;Weak
	MinAssurance report.AssuranceLevel `json:"minAssurance,omitempty"`

	// timeout of the audits, from 10s to 1h.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('10s') && duration(self) <= duration('1h')",message="timeout must be between 10s and 1h"
	Timeout *metav1.Duration `json:"timeout,omitempty"`

	// historyLimit of the audits, from 0 to 20.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=20
	HistoryLimit *int32 `json:"historyLimit,omitempty"`

	// retryLimit of the audits, from 0 to 10.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	RetryLimit *int32 `json:"retryLimit,omitempty"`

	// suspend stops new audits of all these servers.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// probe says how the servers are exercised.
	// +optional
	Probe *ProbeTemplate `json:"probe,omitempty"`

	// sandbox of the audits.
	// +optional
	Sandbox *Sandbox `json:"sandbox,omitempty"`
}

// BaselineTemplate is the baseline of servers that nobody has reviewed.
type BaselineTemplate struct {
	// mode is TrustOnFirstUse or None. It does not replace the baseline of an audit that
	// somebody has pinned.
	// +required
	// +kubebuilder:validation:XValidation:rule="self != 'Pinned'",message="a digest is one server's: pin it in the MCPServerAudit itself, which a policy leaves alone"
	Mode BaselineMode `json:"mode"`
}

// ProbeTemplate is the part of a Probe that several servers can share.
type ProbeTemplate struct {
	// calls says which tools may be called: All, ReadOnlyHinted or Never.
	// +optional
	// +kubebuilder:validation:Enum=All;ReadOnlyHinted;Never
	Calls report.Calls `json:"calls,omitempty"`

	// rounds is the number of times that everything is exercised, from 1 to 10.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Rounds int32 `json:"rounds,omitempty"`

	// maxCallsPerTool is the most calls of one tool over all rounds, from 1 to 1000.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxCallsPerTool int32 `json:"maxCallsPerTool,omitempty"`

	// callTimeout limits one call, from 1s to 10m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('10m')",message="callTimeout must be between 1s and 10m"
	CallTimeout *metav1.Duration `json:"callTimeout,omitempty"`
}

// MaxSkipped is the most skipped servers that the status names.
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

// DiscoveryStatus counts the servers that were found. Discovered = audited + skipped.
type DiscoveryStatus struct {
	// discovered servers.
	Discovered int32 `json:"discovered"`
	// audited servers. Each has an MCPServerAudit made by this policy.
	Audited int32 `json:"audited"`
	// skipped servers, which are not audited.
	Skipped int32 `json:"skipped"`

	// sources that are searched.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=4
	Sources []DiscoverySourceStatus `json:"sources,omitempty"`

	// skippedServers are up to 50 of the servers that are not audited, by namespace and name.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	SkippedServers []SkippedServer `json:"skippedServers,omitempty"`
}

// DiscoverySourceStatus is the state of one source.
type DiscoverySourceStatus struct {
	// name of the source.
	Name DiscoverySource `json:"name"`
	// state is Watched, Pending (not read yet, or unreadable) or NotServed (no CRD).
	State DiscoverySourceState `json:"state"`
	// discovered servers.
	Discovered int32 `json:"discovered"`
	// message says why the source cannot be read.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
}

// DiscoverySourceState is Watched, Pending (not read yet, or unreadable) or NotServed (its
// CRD is not installed).
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
	// reason in one word.
	Reason SkipReason `json:"reason"`
	// message explains the reason in one sentence.
	// +kubebuilder:validation:MaxLength=320
	Message string `json:"message"`
}

// SkipReason says why a server is not audited.
// +kubebuilder:validation:Enum=NotAuditable;BeyondMax;OtherPolicy;Duplicate;NameTaken;Refused
type SkipReason string

// The reasons for which a server is not audited.
const (
	// SkipNotAuditable: its object does not say how to run it, or an audit cannot run it
	// that way.
	SkipNotAuditable SkipReason = "NotAuditable"
	// SkipBeyondMax: spec.discovery.max older servers are audited.
	SkipBeyondMax SkipReason = "BeyondMax"
	// SkipOtherPolicy: an older policy selects it as well.
	SkipOtherPolicy SkipReason = "OtherPolicy"
	// SkipDuplicate: it belongs to another discovered object.
	SkipDuplicate SkipReason = "Duplicate"
	// SkipNameTaken: an MCPServerAudit of that name exists that discovery did not create.
	SkipNameTaken SkipReason = "NameTaken"
	// SkipRefused: the API server refused the audit.
	SkipRefused SkipReason = "Refused"
)

// The parts of Ready of a ClusterMCPAuditPolicy, each written by its own controller. Ready
// takes the reason of the worse one, or that of the gate if both are True.
const (
	// ConditionDiscovered is present with spec.discovery.
	ConditionDiscovered = "Discovered"
	// ConditionGated is present with spec.gate.
	ConditionGated = "Gated"
)

// The reasons of Ready of a ClusterMCPAuditPolicy, besides ReasonInvalidSpec.
const (
	// ReasonDiscovered: every server that was found is audited or listed as skipped.
	ReasonDiscovered = "Discovered"
	// ReasonNothingToDo: spec.discovery and spec.gate are absent.
	ReasonNothingToDo = "NothingToDo"
	// ReasonSourcesPending: a source has not been read yet, or cannot be read.
	ReasonSourcesPending = "SourcesPending"
	// ReasonAuditsPending: audits could not be written; the controller tries again.
	ReasonAuditsPending = "AuditsPending"
	// ReasonDiscoveryDisabled: the operator's configuration turns discovery off.
	ReasonDiscoveryDisabled = "DiscoveryDisabled"
)

// ClusterMCPAuditPolicy finds the MCP servers of a cluster, audits each through an
// MCPServerAudit in its namespace, and denies servers without a passing audit.
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

	// spec says which servers are audited, and which may run.
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
