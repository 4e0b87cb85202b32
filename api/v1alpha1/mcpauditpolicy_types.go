package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MCPAuditPolicySpec says which MCP servers may run in a namespace.
type MCPAuditPolicySpec struct {
	// match selects the containers. If absent, all of the namespace.
	// +optional
	Match *Match `json:"match,omitempty"`

	// gate says which verdicts they need to run.
	// +required
	// +kubebuilder:default={}
	Gate Gate `json:"gate,omitzero"`

	// exposure limits what the servers may enable their callers to do. If absent, there is no
	// limit.
	// +optional
	Exposure *ExposureLimit `json:"exposure,omitempty"`

	// trust says whose verdicts count. By default, those of the same namespace.
	// +optional
	// +kubebuilder:default={auditNamespaces: Same}
	Trust *Trust `json:"trust,omitempty"`
}

// MCPAuditPolicyStatus reports what came of a policy.
type MCPAuditPolicyStatus struct {
	// observedGeneration is the generation of the spec that this status is about; -1
	// before the first.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions: Ready, and while they are true Reconciling and Stalled.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// gate reports on what runs already.
	// +optional
	Gate *GateStatus `json:"gate,omitempty"`
}

// MCPAuditPolicy denies MCP servers without a passing audit in its namespace, while the
// namespace has the label mcpaudit.dev/gate=enabled. If several policies match a container,
// all of them have to admit it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=mcpauditpolicies,shortName=mcppolicy,categories=mcp
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="the name is a label of what the operator keeps for the policy: it must have no more than 63 characters"
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.spec.gate.mode`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Containers",type=integer,JSONPath=`.status.gate.containers`
// +kubebuilder:printcolumn:name="Violating",type=integer,JSONPath=`.status.gate.violating`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
type MCPAuditPolicy struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what may run.
	// +required
	Spec MCPAuditPolicySpec `json:"spec"`

	// status reports what came of it.
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status MCPAuditPolicyStatus `json:"status,omitempty"`
}

// MCPAuditPolicyList is a list of MCPAuditPolicy.
// +kubebuilder:object:root=true
type MCPAuditPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []MCPAuditPolicy `json:"items"`
}

// GetConditions returns the conditions of the status.
func (p *MCPAuditPolicy) GetConditions() []metav1.Condition { return p.Status.Conditions }
