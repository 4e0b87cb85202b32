// Package source reads how an object runs an MCP server: a workload that a person has
// labelled, or an MCPServer of ToolHive, kmcp or mcp.x-k8s.io. controllers/discovery
// asks what to audit of it, controllers/subject what of it is compared with an audit:
// both ask here, so that they compare what was audited. It is pure.
package source

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
)

// Reading holds what a source makes of an object.
type Reading struct {
	// Server is to be audited.
	Server v1alpha1.Server
	// Omitted names what the server has where it runs and the audit does not have,
	// such as a variable from a Secret.
	Omitted []string
	// NotAuditable is the sentence that says why the server cannot be audited; empty if it can.
	NotAuditable string
}

// Reader makes a Reading of an object: the pure function of a source.
type Reader func(object *unstructured.Unstructured) Reading

// MaxNotAuditable is the most bytes of JSON that NotAuditable takes, as in the CRD of policies.
const MaxNotAuditable = 320

// NotAuditable is the Reading of what cannot be audited.
func NotAuditable(format string, args ...any) Reading {
	return Reading{NotAuditable: notAuditable(format, args...)}
}

func notAuditable(format string, args ...any) string {
	return excerpt.Line(fmt.Sprintf(format, args...), MaxNotAuditable)
}

// server has the fields of an object that say how its server is run.
type server interface{ recipe() recipe }

func read(object *unstructured.Unstructured, into server) Reading {
	if err := decode(object, into); err != nil {
		return NotAuditable("It cannot be read: %s.", err)
	}
	return into.recipe().reading()
}

// decode reads an object into a struct that has the fields that are wanted. A field
// of another type than its CRD should allow is an error, and no panic.
func decode(object *unstructured.Unstructured, into any) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into); err != nil {
		return fmt.Errorf("read %s: %w", object.GetKind(), err)
	}
	return nil
}
