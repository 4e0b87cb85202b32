package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MCPAuditExceptionSpec says what is admitted although a policy denies it. It cannot
// be changed: a longer exception is another one, with a reason of its own.
//
// +kubebuilder:validation:XValidation:rule="has(self.images) || has(self.objectSelector)",message="say what is excepted: images by digest, objectSelector, or both"
type MCPAuditExceptionSpec struct {
	// policyRef is the policy that denies.
	// +required
	PolicyRef PolicyReference `json:"policyRef"`

	// images are the digests that are excepted, as in "sha256:...". Absent: any image
	// of the selected objects.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Images []Digest `json:"images,omitempty"`

	// objectSelector selects the objects by their labels, as spec.match of a policy
	// does. Absent: all of the namespace that run one of the images.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && size(e.values) > 0 : e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || size(e.values) == 0))",message="operators are In and NotIn, with values, and Exists and DoesNotExist, without"
	ObjectSelector *metav1.LabelSelector `json:"objectSelector,omitempty"`

	// reason says to whoever reads it why this may run.
	// +required
	// +kubebuilder:validation:MinLength=8
	// +kubebuilder:validation:MaxLength=512
	Reason string `json:"reason"`

	// ticket is where it was decided, such as "SEC-1234" or a URL.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Ticket string `json:"ticket"`

	// expiresAt is when it ends, as in 2026-12-31T00:00:00Z: at most a year after
	// the exception was created.
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

	// conditions: Active (it admits what it says), Ready, and while they are true
	// Reconciling and Stalled.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// lastUsedTime is when something was last admitted by it, to within a minute.
	// +optional
	LastUsedTime *metav1.Time `json:"lastUsedTime,omitempty"`
}

// ConditionActive reports whether an MCPAuditException admits what it says. Ready is
// another question: an exception that has expired did all that it was for, and a
// deployment that waits for what it applied must not fail from that day on.
const ConditionActive = "Active"

// The reasons of Active and of Ready of an MCPAuditException, besides ReasonInvalidSpec.
const (
	// ReasonActive: it admits what it says.
	ReasonActive = "Active"
	// ReasonExpired: it has ended, and admits nothing any more. Ready is True.
	ReasonExpired = "Expired"
	// ReasonPolicyNotFound: there is no such policy, or it has no gate. Ready is Unknown:
	// it may be applied later.
	ReasonPolicyNotFound = "PolicyNotFound"
	// ReasonIgnored: the policy has trust.ignoreExceptions.
	ReasonIgnored = "Ignored"
)

// MCPAuditException admits in its namespace what one policy denies, for a time. Each
// use is an event, a metric and an audit annotation.
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
