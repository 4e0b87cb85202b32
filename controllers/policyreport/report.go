// Package policyreport maintains a report for each MCPServerAudit with a verdict, in the format
// of policy engines and their dashboards: Report of openreports.io or PolicyReport of
// wgpolicyk8s.io, whichever the cluster has. It repeats the status; the details are in the
// MCPAuditReport.
package policyreport

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// Labels of a report. Kyverno, Trivy and others set the first, which policy-reporter selects
// by.
const (
	labelManagedBy = "app.kubernetes.io/managed-by"
	managedBy      = "mcpaudit"
)

// namePrefix begins the name of a report; the name of the audit follows.
const namePrefix = "mcpaudit-"

// maxName is the longest name of an object (RFC 1123 subdomain).
const maxName = 253

// nameOf returns the name of an audit's report. Long names are cut and end in a hash.
func nameOf(audit string) string {
	name := namePrefix + audit
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(audit))
	return strings.TrimRight(name[:maxName-17], "-.") + "-" + hex.EncodeToString(sum[:8])
}

// body is a report without its metadata.
type body struct {
	Source  string   `json:"source,omitempty"`
	Scope   scope    `json:"scope"`
	Summary summary  `json:"summary"`
	Results []result `json:"results"`
}

// scope is the subject of all results.
type scope struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Namespace  string    `json:"namespace"`
	Name       string    `json:"name"`
	UID        types.UID `json:"uid"`
}

// build returns the report of an audit; nil without a verdict.
func (k kind) build(audit *v1alpha1.MCPServerAudit) (*unstructured.Unstructured, error) {
	if audit.Status.Verdict == "" || audit.Status.LastAuditTime == nil {
		return nil, nil
	}
	lines := results(audit)
	content := body{Summary: summarise(lines), Results: lines}
	content.Scope = scope{v1alpha1.GroupVersion.String(), "MCPServerAudit", audit.Namespace, audit.Name, audit.UID}
	if k.sourced {
		content.Source = sourceName
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&content)
	if err != nil {
		return nil, fmt.Errorf("encode report: %w", err)
	}
	made := &unstructured.Unstructured{Object: fields}
	made.SetGroupVersionKind(k.resource.GroupVersion().WithKind(k.name))
	made.SetNamespace(audit.Namespace)
	made.SetName(nameOf(audit.Name))
	made.SetLabels(map[string]string{labelManagedBy: managedBy})
	yes, no := true, false
	made.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: content.Scope.APIVersion, Kind: content.Scope.Kind, Name: audit.Name, UID: audit.UID, Controller: &yes, BlockOwnerDeletion: &no,
	}})
	return made, nil
}

// digest is over the fields written here, without those added by others.
func digest(of *unstructured.Unstructured) string {
	encoded, err := json.Marshal([]any{
		of.Object["source"], of.Object["scope"], of.Object["summary"], of.Object["results"],
		of.GetLabels()[labelManagedBy], of.GetOwnerReferences(),
	})
	if err != nil {
		return "" // matches no digest, so the report is written
	}
	return report.Sum(encoded)
}
