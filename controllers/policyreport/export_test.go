package policyreport

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// Build makes the report of an audit in one of the kinds, the preferred one first.
func Build(i int, audit *v1alpha1.MCPServerAudit) (*unstructured.Unstructured, error) {
	return kinds[i].build(audit)
}

// NameOf is the name of the report of an audit.
var NameOf = nameOf
