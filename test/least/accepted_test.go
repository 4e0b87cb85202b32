//go:build envtest

// Package least shows that the policies which mcpaudit makes are what those who enforce
// them take: a real API server, with the CRDs of Cilium and the
// security-profiles-operator. They are made of runner/least's golden audits; that they
// are enforced is for test/scripts (seccomp) and test/e2e.
package least

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

var crds = []testenv.Published{
	{Module: "github.com/cilium/cilium@v1.17.6", Sum: "h1:5BgAhTKJH2rzsipQL1/GzEVRmKEujMvcFD+zcMZqLHU=",
		File: "pkg/k8s/apis/cilium.io/client/crds/v2/ciliumnetworkpolicies.yaml"},
	{Module: "sigs.k8s.io/security-profiles-operator@v0.9.1", Sum: "h1:psXG9t33xA8nZBEIe+VF4Dy0iF8CnEDXoQmaPLpfrSE=",
		File: "deploy/base-crds/crds/seccompprofile.yaml"},
}

func golden(t *testing.T, server, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "runner", "least", "testdata", server, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestAccepted(t *testing.T) {
	cluster := testenv.Start(t)
	api := cluster.Client
	var paths []string
	for _, crd := range crds {
		path, err := crd.Path()
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	if _, err := envtest.InstallCRDs(cluster.Config, envtest.CRDInstallOptions{Paths: paths}); err != nil {
		t.Fatal(err)
	}
	for _, server := range []string{"honest", "leaky", "everything", "networked"} {
		for _, name := range []string{"networkpolicy.yaml", "cilium.yaml", "spo.yaml"} {
			t.Run(server+"/"+name, func(t *testing.T) {
				object := &unstructured.Unstructured{}
				if err := yaml.Unmarshal(golden(t, server, name), &object.Object); err != nil {
					t.Fatal(err)
				}
				if object.GetKind() != "SeccompProfile" { // which is of the cluster in this version
					object.SetNamespace("default")
				}
				create(t.Context(), t, api, object)
			})
		}
		t.Run(server+"/securitycontext.yaml", func(t *testing.T) { create(t.Context(), t, api, patched(t, golden(t, server, "securitycontext.yaml"))) })
	}
}

// create asks the API server for an object without making it; a field that it does not
// know is an error.
func create(ctx context.Context, t *testing.T, api client.Client, object client.Object) {
	t.Helper()
	if err := client.WithFieldValidation(api, metav1.FieldValidationStrict).Create(ctx, object, client.DryRunAll); err != nil {
		t.Error(err)
	}
}

// patched is a careless Deployment with a patch over it, which has to keep what was
// there.
func patched(t *testing.T, patch []byte) *appsv1.Deployment {
	t.Helper()
	var meta metav1.PartialObjectMetadata
	if err := yaml.Unmarshal(patch, &meta); err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{"app": "notes"}
	before, err := json.Marshal(appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: meta.Name, Namespace: "default"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{
					{Name: meta.Name, Image: "registry.example/notes", Args: []string{"stdio"}}, {Name: "sidecar", Image: "registry.example/sidecar"},
				}},
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := yaml.YAMLToJSON(patch)
	if err != nil {
		t.Fatal(err)
	}
	merged, err := strategicpatch.StrategicMergePatch(before, overlay, appsv1.Deployment{})
	if err != nil {
		t.Fatal(err)
	}
	after := &appsv1.Deployment{}
	if err := yaml.UnmarshalStrict(merged, after); err != nil {
		t.Fatal(err)
	}
	containers := after.Spec.Template.Spec.Containers
	if len(containers) != 2 || containers[0].Args[0] != "stdio" || containers[0].SecurityContext == nil ||
		containers[0].SecurityContext.SeccompProfile == nil || containers[1].SecurityContext != nil {
		t.Errorf("the containers became %+v", containers)
	}
	return after
}
