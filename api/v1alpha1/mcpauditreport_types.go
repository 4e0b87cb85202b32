package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// MCPAuditReportSpec is the full result of one audit, with its inputs.
type MCPAuditReportSpec struct {
	// audit says what was audited, and why.
	// +required
	Audit AuditInputs `json:"audit"`

	report.Report `json:",inline"`
}

// AuditInputs are the inputs of an audit that the runner does not know.
type AuditInputs struct {
	// name of the MCPServerAudit.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// image as given in the spec; empty if the server was reached by server.url.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`
	// imageDigest is the digest of the image that ran.
	// +optional
	ImageDigest Digest `json:"imageDigest,omitempty"`
	// generation of the spec that was audited.
	Generation int64 `json:"generation"`
	// trigger is the reason for the audit.
	Trigger TriggerReason `json:"trigger"`
	// reportSHA256 is the hex SHA-256 of the JSON that the runner wrote, before the manager
	// compared it with the baseline.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[0-9a-f]{64}$`
	ReportSHA256 string `json:"reportSHA256"`
}

// MCPAuditReport is the full result of one audit. Its MCPServerAudit owns it, and it never
// changes.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=mcpar,categories=mcp
// +kubebuilder:printcolumn:name="Audit",type=string,JSONPath=`.spec.audit.name`
// +kubebuilder:printcolumn:name="Verdict",type=string,JSONPath=`.spec.verdict`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.spec.reason`
// +kubebuilder:printcolumn:name="Server",type=string,JSONPath=`.spec.server.name`
// +kubebuilder:printcolumn:name="Trigger",type=string,priority=1,JSONPath=`.spec.audit.trigger`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.spec.message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type MCPAuditReport struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the result.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a report is never changed"
	Spec MCPAuditReportSpec `json:"spec"`
}

// MCPAuditReportList is a list of MCPAuditReport.
// +kubebuilder:object:root=true
type MCPAuditReportList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []MCPAuditReport `json:"items"`
}
