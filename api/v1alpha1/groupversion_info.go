// Package v1alpha1 holds the kinds of the API group mcpaudit.dev.
//
// Fields are only ever added. The package knows nothing of package api/report:
// MCPAuditReport repeats its JSON, and controllers/result converts.
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

	// RequestedAtAnnotation asks for an audit now: any value that differs from
	// status.lastHandledReconcileAt does. By convention it is the time.
	RequestedAtAnnotation = "mcpaudit.dev/requestedAt"

	// ManifestAnnotation is spec.manifestDigest of an MCPAuditReport. By it and by
	// VerdictAnnotation the one of the baseline is found without reading all of them.
	ManifestAnnotation = "mcpaudit.dev/manifest-digest"
	// VerdictAnnotation is spec.verdict of an MCPAuditReport.
	VerdictAnnotation = "mcpaudit.dev/verdict"

	// AttestationAnnotation of an MCPAuditReport is its in-toto statement in a signed
	// DSSE envelope. A report has it or StatementAnnotation, or neither where there is
	// no image that a statement could be about.
	AttestationAnnotation = "mcpaudit.dev/attestation"
	// StatementAnnotation of an MCPAuditReport is its in-toto statement without a signature.
	StatementAnnotation = "mcpaudit.dev/statement"
)
