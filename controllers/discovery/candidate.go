package discovery

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/source"
)

// candidate is an object that runs a server, reduced to what discovery needs.
type candidate struct {
	// ObjectMeta has the object's identity and age.
	metav1.ObjectMeta
	GVK    schema.GroupVersionKind
	Source v1alpha1.DiscoverySource
	// Controller is the UID of the object's controller; empty if it has none.
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

// kindName returns a kind as in statuses and labels: "Deployment.apps".
func (c *candidate) kindName() string { return c.GVK.GroupKind().String() }
