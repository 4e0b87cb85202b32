package discovery

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// crdChanged notes that the CRD of a source changed and must be looked up again.
func (w *watches) crdChanged(before, after any) bool {
	crd, ok := after.(*metav1.PartialObjectMetadata)
	if !ok {
		crd, ok = before.(*metav1.PartialObjectMetadata)
	}
	concerns := !ok // a tombstone may be of any CRD
	for _, r := range resources {
		concerns = concerns || !r.builtIn && crd.Name == r.crd()
	}
	if concerns {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.served = nil
	}
	return concerns
}

// lookUp reads the CRDs of the sources unless known. It gets them by name: only NotFound proves
// that one is absent.
func (w *watches) lookUp(ctx context.Context) error {
	if w.served != nil {
		return nil
	}
	served := map[string][]string{}
	for _, r := range resources {
		if r.builtIn {
			continue
		}
		crd, err := w.objects.Resource(crds).Get(ctx, r.crd(), metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return fmt.Errorf("read CRD %s: %w", r.crd(), err)
		default:
			served[r.crd()] = servedVersions(crd)
		}
	}
	w.served = served
	return nil
}

// definition has the relevant fields of a CRD.
type definition struct {
	Spec struct {
		Scope    string `json:"scope"`
		Versions []struct {
			Name   string `json:"name"`
			Served bool   `json:"served"`
		} `json:"versions"`
	} `json:"spec"`
	Status struct {
		Conditions []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
		} `json:"conditions"`
	} `json:"status"`
}

// servedVersions returns the versions of a CRD that the API server serves now.
func servedVersions(crd *unstructured.Unstructured) []string {
	var d definition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(crd.Object, &d); err != nil || d.Spec.Scope != "Namespaced" {
		return nil
	}
	for _, c := range d.Status.Conditions {
		if c.Type != "Established" || c.Status != string(metav1.ConditionTrue) {
			continue
		}
		var versions []string
		for _, v := range d.Spec.Versions {
			if v.Served {
				versions = append(versions, v.Name)
			}
		}
		return versions
	}
	return nil
}

// version returns the version of a resource to watch, or why there is none.
func (w *watches) version(r resource) (version, message string) {
	if r.builtIn {
		return r.versions[0], ""
	}
	served := w.served[r.crd()]
	for _, known := range r.versions {
		if slices.Contains(served, known) {
			return known, ""
		}
	}
	if len(served) > 0 {
		return "", fmt.Sprintf("%s is served as %s; discovery reads %s.", r.crd(), strings.Join(served, ", "), strings.Join(r.versions, ", "))
	}
	if _, installed := w.served[r.crd()]; installed {
		return "", fmt.Sprintf("The CRD %s is installed, and not served for namespaces by now.", r.crd())
	}
	return "", fmt.Sprintf("The CRD %s is not installed.", r.crd())
}
