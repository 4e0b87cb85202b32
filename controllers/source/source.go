// Package source reads how an object runs an MCP server: a labelled workload, or an MCPServer
// of ToolHive, kmcp or mcp.x-k8s.io. controllers/discovery uses it to audit the server,
// controllers/subject to compare it with audits, so both agree. It is pure.
package source

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
)

// Reading is the server of an object.
type Reading struct {
	// Server is the spec to audit.
	Server v1alpha1.Server
	// Omitted lists what the server has in the cluster but not in the audit, such as a variable
	// from a Secret.
	Omitted []string
	// NotAuditable is a sentence that says why the server cannot be audited; empty if it can.
	NotAuditable string
}

// Reader returns the Reading of an object. It is pure.
type Reader func(object *unstructured.Unstructured) Reading

// MaxNotAuditable bounds NotAuditable in bytes of JSON, as in the policies' CRD.
const MaxNotAuditable = 320

// NotAuditable returns the Reading of a server that cannot be audited.
func NotAuditable(format string, args ...any) Reading {
	return Reading{NotAuditable: notAuditable(format, args...)}
}

func notAuditable(format string, args ...any) string {
	return excerpt.Line(fmt.Sprintf(format, args...), MaxNotAuditable)
}

// server has an object's fields about running its server.
type server interface{ recipe() recipe }

func read(object *unstructured.Unstructured, into server) Reading {
	if err := decode(object, into); err != nil {
		return NotAuditable("It cannot be read: %s.", err)
	}
	return into.recipe().reading()
}

// decode decodes an object into a struct of the wanted fields. Fields of unexpected types are
// errors.
func decode(object *unstructured.Unstructured, into any) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into); err != nil {
		return fmt.Errorf("read %s: %w", object.GetKind(), err)
	}
	return nil
}
