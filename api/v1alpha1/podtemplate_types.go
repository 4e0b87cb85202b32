package v1alpha1

import corev1 "k8s.io/api/core/v1"

// PodTemplate says where and when an audit Pod runs. What it runs and may do is up to the
// operator: otherwise anyone who may create an audit could start their own Pod in a
// privileged namespace.
type PodTemplate struct {
	// metadata of the audit Pod.
	// +optional
	Metadata PodTemplateMetadata `json:"metadata,omitzero"`
	// spec of the audit Pod.
	// +optional
	Spec PodTemplateSpec `json:"spec,omitzero"`
}

// PodTemplateMetadata has labels and annotations, such as the name of a Kueue queue
// (kueue.x-k8s.io/queue-name). The operator's own, and those that keep a service mesh out,
// cannot be replaced. In an audit, prefixed ones must be allowed by the operator's
// configuration, because many of them instruct other controllers.
type PodTemplateMetadata struct {
	// labels of the audit Pod.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('mcpaudit.dev/') && !k.contains('.mcpaudit.dev/') && !(k in ['app.kubernetes.io/managed-by', 'sidecar.istio.io/inject', 'istio.io/dataplane-mode', 'kuma.io/sidecar-injection']))",message="labels app.kubernetes.io/managed-by, those with the prefix mcpaudit.dev, and those that keep a mesh out, are the operator's own: remove them"
	Labels map[string]string `json:"labels,omitempty"`
	// annotations of the audit Pod.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('mcpaudit.dev/') && !k.contains('.mcpaudit.dev/') && !(k in ['sidecar.istio.io/inject', 'linkerd.io/inject', 'consul.hashicorp.com/connect-inject', 'cluster-autoscaler.kubernetes.io/safe-to-evict']))",message="annotations with the prefix mcpaudit.dev, and those that keep a mesh out, are the operator's own: remove them"
	Annotations map[string]string `json:"annotations,omitempty"`
}

// PodTemplateSpec has fields of a PodSpec, by the same names.
type PodTemplateSpec struct {
	// nodeSelector of the audit Pod.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// tolerations of the audit Pod.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// affinity of the audit Pod.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`
	// topologySpreadConstraints of the audit Pod.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
	// priorityClassName of the audit Pod.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// schedulerName of the audit Pod.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	SchedulerName string `json:"schedulerName,omitempty"`
}
