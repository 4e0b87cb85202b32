// Package v1alpha1 holds the kinds of the API group mcpaudit.dev.
//
// Fields are only ever added. The spec of MCPAuditReport embeds report.Report.
//
// +kubebuilder:object:generate=true
// +groupName=mcpaudit.dev
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of every kind in this package.
var GroupVersion = schema.GroupVersion{Group: "mcpaudit.dev", Version: "v1alpha1"}

var schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme registers the kinds of this package.
var AddToScheme = schemeBuilder.AddToScheme

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&MCPServerAudit{}, &MCPServerAuditList{},
		&MCPAuditReport{}, &MCPAuditReportList{},
		&MCPAuditPolicy{}, &MCPAuditPolicyList{},
		&ClusterMCPAuditPolicy{}, &ClusterMCPAuditPolicyList{},
		&MCPAuditException{}, &MCPAuditExceptionList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

const (
	// Finalizer keeps an audit until its Pod and its copied pull secrets are
	// deleted from the run namespace, which no owner reference can reach.
	Finalizer = "mcpaudit.dev/cleanup"

	// RequestedAtAnnotation requests an audit by any value that differs from
	// status.lastHandledReconcileAt. By convention it is the time.
	RequestedAtAnnotation = "mcpaudit.dev/requestedAt"

	// ManifestAnnotation is spec.manifestDigest of an MCPAuditReport. With VerdictAnnotation it
	// finds the baseline's report by metadata alone.
	ManifestAnnotation = "mcpaudit.dev/manifest-digest"
	// VerdictAnnotation is spec.verdict of an MCPAuditReport.
	VerdictAnnotation = "mcpaudit.dev/verdict"

	// AttestationAnnotation of an MCPAuditReport is its in-toto statement in a signed DSSE
	// envelope. A report has either this or StatementAnnotation, or neither if no image ran.
	AttestationAnnotation = "mcpaudit.dev/attestation"
	// StatementAnnotation of an MCPAuditReport is its in-toto statement without a signature.
	StatementAnnotation = "mcpaudit.dev/statement"
)
