package discovery

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/source"
)

// candidate is an object that runs a server. It is all that is kept of the object.
type candidate struct {
	// ObjectMeta has what identifies the object, and its age.
	metav1.ObjectMeta
	GVK    schema.GroupVersionKind
	Source v1alpha1.DiscoverySource
	// Controller is the UID of the object that made this one; empty if none did.
	Controller types.UID
	source.Reading
}

func newCandidate(object *unstructured.Unstructured, from v1alpha1.DiscoverySource, read source.Reader) *candidate {
	var controller types.UID
	if owner := metav1.GetControllerOf(object); owner != nil {
		controller = owner.UID
	}
	return &candidate{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(),
			ResourceVersion:   object.GetResourceVersion(),
			CreationTimestamp: object.GetCreationTimestamp(), DeletionTimestamp: object.GetDeletionTimestamp(),
		},
		GVK: object.GroupVersionKind(), Source: from, Controller: controller, Reading: read(object),
	}
}

// kindName returns how a status and a label write a kind: "Deployment.apps".
func (c *candidate) kindName() string { return c.GVK.GroupKind().String() }
