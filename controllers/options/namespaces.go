package options

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The namespaces of the operator have fixed names: its Roles, the admission policies and
// the webhook name them too.
const (
	// SystemNamespace is where the operator runs, and where it keeps what the API server
	// denies by.
	SystemNamespace = "mcpaudit-system"
	// RunNamespace is where the audit Pods run. It is used for nothing else.
	RunNamespace = "mcpaudit-runs"
)

// OwnNamespaces returns the namespaces of the operator, in which nothing is discovered.
func OwnNamespaces() []string { return []string{SystemNamespace, RunNamespace} }

// UngatedNamespaces returns the namespaces that the gate leaves out whatever their labels:
// the cluster and the operator never wait for it.
func UngatedNamespaces() []string {
	return append([]string{metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease}, OwnNamespaces()...)
}
