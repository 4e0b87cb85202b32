package discovery

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
)

// Candidate is an object that runs a server. It is all that is kept of the object.
type Candidate struct {
	// ObjectMeta has what identifies the object, and its age.
	metav1.ObjectMeta
	GVK    schema.GroupVersionKind
	Source v1alpha1.DiscoverySource
	// Controller is the UID of the object that made this one; empty if none did.
	Controller types.UID
	Reading
}

// Reading is what a source makes of an object.
type Reading struct {
	// Server is what to audit.
	Server v1alpha1.Server
	// LeftOut names what the server has where it runs and the audit does not have,
	// such as a variable from a Secret.
	LeftOut []string
	// Unfit is the sentence that says why the server cannot be audited; empty if it can.
	Unfit string
}

// reader makes a Reading of an object: the pure function of a source.
type reader func(object *unstructured.Unstructured) Reading

// maxUnfit is the most bytes of JSON that Unfit takes, as in the CRD.
const maxUnfit = 320

func unfit(format string, args ...any) Reading {
	return Reading{Unfit: excerpt.Line(fmt.Sprintf(format, args...), maxUnfit)}
}

// candidate reads one object.
func candidate(object *unstructured.Unstructured, source v1alpha1.DiscoverySource, read reader) *Candidate {
	var controller types.UID
	if owner := metav1.GetControllerOf(object); owner != nil {
		controller = owner.UID
	}
	return &Candidate{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(),
			ResourceVersion:   object.GetResourceVersion(),
			CreationTimestamp: object.GetCreationTimestamp(), DeletionTimestamp: object.GetDeletionTimestamp(),
		},
		GVK: object.GroupVersionKind(), Source: source, Controller: controller, Reading: read(object),
	}
}

// decode reads an object into a struct that has the fields that are wanted. A field
// of another type than its CRD should allow is an error, and no panic.
func decode(object *unstructured.Unstructured, into any) error {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into); err != nil {
		return fmt.Errorf("read %s: %w", object.GetKind(), err)
	}
	return nil
}

// kindName is how a status and a label write a kind: "Deployment.apps".
func (c *Candidate) kindName() string { return c.GVK.GroupKind().String() }
