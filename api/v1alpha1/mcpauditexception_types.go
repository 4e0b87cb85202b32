package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MCPAuditExceptionSpec says what is admitted although a policy denies it. It cannot be
// changed: to extend an exception, create another with its own reason.
//
// +kubebuilder:validation:XValidation:rule="has(self.images) || has(self.objectSelector)",message="say what is excepted: images by digest, objectSelector, or both"
type MCPAuditExceptionSpec struct {
	// policyRef is the policy that denies.
	// +required
	PolicyRef PolicyReference `json:"policyRef"`

	// images are digests ("sha256:...") to admit. If absent, any image of the selected objects.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Images []Digest `json:"images,omitempty"`

	// objectSelector selects objects by their labels, as spec.match of a policy does. If absent,
	// all objects of the namespace that run one of the images.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && size(e.values) > 0 : e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || size(e.values) == 0))",message="operators are In and NotIn, with values, and Exists and DoesNotExist, without"
	ObjectSelector *metav1.LabelSelector `json:"objectSelector,omitempty"`

	// reason explains to readers why this may run.
	// +required
	// +kubebuilder:validation:MinLength=8
	// +kubebuilder:validation:MaxLength=512
	Reason string `json:"reason"`

	// ticket refers to the decision, such as "SEC-1234" or a URL.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Ticket string `json:"ticket"`

	// expiresAt is the end of the exception, such as 2026-12-31T00:00:00Z, at most a year after
	// its creation.
	// +required
	ExpiresAt metav1.Time `json:"expiresAt"`
}

// PolicyReference names a policy: an MCPAuditPolicy of the same namespace, or a
// ClusterMCPAuditPolicy.
type PolicyReference struct {
	// kind of the policy.
	// +required
	// +kubebuilder:validation:Enum=MCPAuditPolicy;ClusterMCPAuditPolicy
	Kind string `json:"kind"`
	// name of the policy.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
}

// MCPAuditExceptionStatus reports what came of an exception.
type MCPAuditExceptionStatus struct {
	// observedGeneration is the generation of the spec that this status is about; -1
	// before the first.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions: Active (the exception has effect), Ready, and while they are true Reconciling
	// and Stalled.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// lastUsedTime is the time of the last admission by the exception, to within a minute.
	// +optional
	LastUsedTime *metav1.Time `json:"lastUsedTime,omitempty"`
}

// ConditionActive says whether an MCPAuditException has effect. Ready differs: an expired
// exception has done its work and stays Ready, so that a deployment that waits for its
// objects does not fail from that day on.
const ConditionActive = "Active"

// The reasons of Active and of Ready of an MCPAuditException, besides ReasonInvalidSpec.
const (
	// ReasonActive: the exception has effect.
	ReasonActive = "Active"
	// ReasonExpired: it has ended and admits nothing. Ready is True.
	ReasonExpired = "Expired"
	// ReasonPolicyNotFound: there is no such policy, or it has no gate. Ready is Unknown, since
	// the policy may be applied later.
	ReasonPolicyNotFound = "PolicyNotFound"
	// ReasonIgnored: the policy has trust.ignoreExceptions.
	ReasonIgnored = "Ignored"
)

// MCPAuditException admits, in its namespace and for a limited time, what one policy denies.
// Each use is recorded by an event, a metric and an audit annotation.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=mcpauditexceptions,shortName=mcpexception,categories=mcp
// +kubebuilder:validation:XValidation:rule="self.spec == oldSelf.spec",message="spec cannot be changed: delete this exception, or create another one with a reason of its own"
// +kubebuilder:printcolumn:name="Policy",type=string,JSONPath=`.spec.policyRef.name`
// +kubebuilder:printcolumn:name="Ticket",type=string,JSONPath=`.spec.ticket`
// +kubebuilder:printcolumn:name="Active",type=string,JSONPath=`.status.conditions[?(@.type=="Active")].status`
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Expires",type=string,JSONPath=`.spec.expiresAt`
// +kubebuilder:printcolumn:name="Used",type=date,JSONPath=`.status.lastUsedTime`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.spec.reason`
type MCPAuditException struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what is admitted.
	// +required
	Spec MCPAuditExceptionSpec `json:"spec"`

	// status reports what came of it.
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status MCPAuditExceptionStatus `json:"status,omitempty"`
}

// MCPAuditExceptionList is a list of MCPAuditException.
// +kubebuilder:object:root=true
type MCPAuditExceptionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []MCPAuditException `json:"items"`
}

// GetConditions returns the conditions of the status.
func (e *MCPAuditException) GetConditions() []metav1.Condition { return e.Status.Conditions }
