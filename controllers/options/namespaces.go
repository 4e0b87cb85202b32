package options

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The operator's namespaces have fixed names: its Roles, admission policies and webhook refer
// to them.
const (
	// SystemNamespace is the namespace in which the operator runs and keeps the lists of the offline gate.
	SystemNamespace = "mcpaudit-system"
	// RunNamespace is dedicated to audit Pods.
	RunNamespace = "mcpaudit-runs"
)

// OwnNamespaces returns the operator's namespaces, in which nothing is discovered.
func OwnNamespaces() []string { return []string{SystemNamespace, RunNamespace} }

// UngatedNamespaces returns the namespaces that are never gated, whatever their labels, so the
// cluster and the operator do not depend on the gate.
func UngatedNamespaces() []string {
	return append([]string{metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease}, OwnNamespaces()...)
}
