package subject

import (
	"encoding/json"
	"math/rand"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/randfill"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

func TestFromPod(t *testing.T) {
	id := func(letter string) string { return "sha256:" + strings.Repeat(letter, 64) }
	status := func(name, image string, mounts ...corev1.VolumeMountStatus) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, ImageID: "r/" + name + "@" + image, VolumeMounts: mounts}
	}
	got := FromPod(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "notes-5d9c", Labels: map[string]string{"app": "notes"}},
		Spec: corev1.PodSpec{
			Volumes:             []corev1.Volume{{Name: "server", VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "r/data:1"}}}},
			InitContainers:      []corev1.Container{{Name: "init", Image: "r/init:1"}},
			Containers:          []corev1.Container{{Name: "server", Image: "r/server:1"}, {Name: "waits", Image: "r/waits:1"}},
			EphemeralContainers: []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "shell", Image: "r/shell:1"}}},
		},
		Status: corev1.PodStatus{
			InitContainerStatuses: []corev1.ContainerStatus{status("init", id("a"))},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "waits", ImageID: "docker://" + id("e")}, status("server", id("b"), corev1.VolumeMountStatus{Name: "other"},
				corev1.VolumeMountStatus{Name: "server", VolumeStatus: &corev1.VolumeStatus{Image: &corev1.ImageVolumeStatus{ImageRef: "r/data@" + id("c")}}})},
			EphemeralContainerStatuses: []corev1.ContainerStatus{status("shell", id("d"))},
		},
	})
	of := func(letter string) []v1alpha1.Digest { return []v1alpha1.Digest{v1alpha1.Digest(id(letter))} }
	want := gate.Subject{
		Kind: "Pod", Namespace: "team-a", Name: "notes-5d9c", Target: v1alpha1.TargetPods, Labels: map[string]string{"app": "notes"},
		Containers: []gate.Container{
			{Name: "server", Role: gate.RoleImageVolume, Image: "r/data:1", Digests: of("c")},
			{Name: "init", Role: gate.RoleInitContainer, Image: "r/init:1", Digests: of("a")},
			{Name: "server", Role: gate.RoleContainer, Image: "r/server:1", Digests: of("b")},
			{Name: "waits", Role: gate.RoleContainer, Image: "r/waits:1", ImageID: v1alpha1.Digest(id("e"))},
			{Name: "shell", Role: gate.RoleEphemeralContainer, Image: "r/shell:1", Digests: of("d")},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A Pod that has a node gets no other one.
func TestFromPodOnANode(t *testing.T) {
	pod := corev1.Pod{Spec: corev1.PodSpec{NodeSelector: map[string]string{"pool": "a"}}}
	before := FromPod(&pod).NodesByLabel
	pod.Spec.NodeName = "node-1"
	if after := FromPod(&pod).NodesByLabel; !before || after {
		t.Errorf("nodes by label: %t before it has a node, %t after", before, after)
	}
}

// A Pod is the same subject when it is admitted and when it runs, but for its node.
func TestFromPodIsRead(t *testing.T) {
	fill := randfill.NewWithSeed(1).NilChance(.3).NumElements(0, 3).RandSource(rand.NewSource(1)).Funcs(
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewQuantity(c.Int63n(1000), resource.DecimalSI)
		},
		func(v *metav1.FieldsV1, _ randfill.Continue) { *v = metav1.FieldsV1{} },
		func(e *corev1.NodeSelectorRequirement, c randfill.Continue) {
			*e = corev1.NodeSelectorRequirement{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{[]string{"amd64", "arm64"}[c.Intn(2)]}}
		},
		func(e *corev1.EnvVar, c randfill.Continue) {
			*e = corev1.EnvVar{Name: "A", Value: "$(A)x"}
			if c.Bool() {
				*e = corev1.EnvVar{Name: "A", ValueFrom: &corev1.EnvVarSource{}}
			}
		},
		func(s *string, c randfill.Continue) {
			*s = []string{"", "a", "b", "$(A)", "$$(A)", "r/notes:1", ownTaints}[c.Intn(7)]
		},
	)
	pinned, expanded := 0, 0
	for range 500 {
		var pod corev1.Pod
		fill.Fill(&pod)
		pod.Spec.NodeName = ""
		encoded, err := json.Marshal(&pod)
		if err != nil {
			t.Fatal(err)
		}
		read, err := Read(encoded, schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, "")
		if err != nil {
			t.Fatalf("%v\n%s", err, encoded)
		}
		if diff := cmp.Diff(read, FromPod(&pod), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(gate.Container{}, "Digests")); diff != "" {
			t.Fatalf("%s\n%s", diff, encoded)
		}
		if read.Architecture != "" {
			pinned++
		}
		for _, c := range read.Containers {
			if strings.Contains(strings.Join(c.Args, ""), "x") {
				expanded++
			}
		}
	}
	t.Logf("%d Pods pinned, %d containers expanded", pinned, expanded)
	if pinned == 0 || expanded == 0 {
		t.Error("the Pods do not try it")
	}
}
