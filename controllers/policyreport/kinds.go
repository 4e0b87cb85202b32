package policyreport

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind is a kind of policy report.
type kind struct {
	resource schema.GroupVersionResource
	name     string
	// sourced means that the report itself names its source, not only each result.
	sourced bool
}

// kinds lists the kinds of report, preferred first: OpenReports succeeds the working group's
// PolicyReport, and readers of both would count twice.
// See https://github.com/openreports/reports-api and
// https://github.com/kubernetes-sigs/wg-policy-prototypes/tree/master/policy-report.
var kinds = []kind{
	{resource: schema.GroupVersionResource{Group: "openreports.io", Version: "v1alpha1", Resource: "reports"}, name: "Report", sourced: true},
	{resource: schema.GroupVersionResource{Group: "wgpolicyk8s.io", Version: "v1alpha2", Resource: "policyreports"}, name: "PolicyReport"},
}

// crd returns the name of the kind's CRD.
func (k kind) crd() string { return k.resource.GroupResource().String() }

// serves reports whether a CRD is established and serves the version written here.
func (k kind) serves(crd *unstructured.Unstructured) bool {
	if scope, _, _ := unstructured.NestedString(crd.Object, "spec", "scope"); scope != "Namespaced" || crd.GetDeletionTimestamp() != nil {
		return false
	}
	conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	established := slices.ContainsFunc(conditions, func(c any) bool {
		fields, _ := c.(map[string]any)
		return fields["type"] == "Established" && fields["status"] == string(metav1.ConditionTrue)
	})
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	return established && slices.ContainsFunc(versions, func(v any) bool {
		fields, _ := v.(map[string]any)
		return fields["name"] == k.resource.Version && fields["served"] == true
	})
}
