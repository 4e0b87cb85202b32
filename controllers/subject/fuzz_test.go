package subject

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/controllers/gate"
	"github.com/mcpaudit/mcpaudit/controllers/source"
)

// specs has the path of the Pod in each kind of Kubernetes' API.
var specs = map[schema.GroupKind]func(object []byte) (corev1.PodSpec, error){
	{Kind: "Pod"}:         specIn(func(o *corev1.Pod) corev1.PodSpec { return o.Spec }),
	{Kind: "PodTemplate"}: specIn(func(o *corev1.PodTemplate) corev1.PodSpec { return o.Template.Spec }),
	{Kind: "ReplicationController"}: specIn(func(o *corev1.ReplicationController) corev1.PodSpec {
		if o.Spec.Template == nil {
			return corev1.PodSpec{}
		}
		return o.Spec.Template.Spec
	}),
	{Group: "apps", Kind: "Deployment"}:  specIn(func(o *appsv1.Deployment) corev1.PodSpec { return o.Spec.Template.Spec }),
	{Group: "apps", Kind: "ReplicaSet"}:  specIn(func(o *appsv1.ReplicaSet) corev1.PodSpec { return o.Spec.Template.Spec }),
	{Group: "apps", Kind: "StatefulSet"}: specIn(func(o *appsv1.StatefulSet) corev1.PodSpec { return o.Spec.Template.Spec }),
	{Group: "apps", Kind: "DaemonSet"}:   specIn(func(o *appsv1.DaemonSet) corev1.PodSpec { return o.Spec.Template.Spec }),
	{Group: "batch", Kind: "Job"}:        specIn(func(o *batchv1.Job) corev1.PodSpec { return o.Spec.Template.Spec }),
	{Group: "batch", Kind: "CronJob"}:    specIn(func(o *batchv1.CronJob) corev1.PodSpec { return o.Spec.JobTemplate.Spec.Template.Spec }),
}

func specIn[T any](path func(*T) corev1.PodSpec) func(object []byte) (corev1.PodSpec, error) {
	return func(object []byte) (corev1.PodSpec, error) {
		var o T
		err := kjson.UnmarshalCaseSensitivePreserveInts(object, &o)
		return path(&o), err
	}
}

// FuzzRead holds what is read against what the API server would make of an object.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/read/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		object, _, _ := bytes.Cut(text, []byte("---\n"))
		encoded, err := yaml.YAMLToJSON(object)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(encoded)
	}
	for _, seed := range []string{
		`{}`, `[]`, `null`, `{"spec":null}`, `{"spec":{"containers":[null,{}],"volumes":[{"image":null},{"image":{}}],"affinity":null}}`,
		`{"metadata":null,"template":{"spec":{"containers":[{"image":"a","Image":"b"}]}}}`,
		`{"spec":{"containers":[{"image":"a","image":"b"}],"nodeSelector":{"kubernetes.io/arch":null}}}`,
		`{"spec":{"template":{"spec":{"containers":[{"args":["$(A)$$(A)$("],"env":[{"name":"A","value":"$(A)"},null,{"name":"A","valueFrom":{}}]}]}}}}`,
		`{"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[null]},null]}}}}}`,
		`{"spec":{"podTemplateSpec":{"spec":{"containers":[{"name":"mcp"},{"name":"mcp","image":"a"}],"Volumes":[]}},"podTemplateSpec":{}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, object []byte) {
		for kind := range kinds {
			got, err := Read(object, kind.WithVersion("v1"), "")
			if err != nil {
				continue
			}
			for _, c := range got.Containers {
				if c.Image == "" && c.Unclear == "" {
					t.Errorf("%s: %+v has no image, and does not say so", kind, c)
				}
			}
			if spec := specs[kind]; spec != nil {
				compareImages(t, kind, object, got, spec)
			} else if c := source.Server(kind, object); c != nil && len(got.Containers) == 0 {
				t.Errorf("%s: %+v is lost", kind, c)
			}
			if again := Changed(got, got).Containers; len(again) > 0 && again[0].Image != "" {
				t.Errorf("%s: %+v has changed from itself", kind, again)
			}
		}
	})
}

func compareImages(t *testing.T, kind schema.GroupKind, object []byte, got gate.Subject, spec func([]byte) (corev1.PodSpec, error)) {
	t.Helper()
	pod, err := spec(object)
	if err != nil {
		return // the API server has no such object
	}
	var want []string
	for _, v := range pod.Volumes {
		if v.Image != nil {
			want = append(want, v.Image.Reference)
		}
	}
	for _, c := range pod.InitContainers {
		want = append(want, c.Image)
	}
	for _, c := range pod.Containers {
		want = append(want, c.Image)
	}
	for _, c := range pod.EphemeralContainers {
		want = append(want, c.Image)
	}
	var images []string
	for _, c := range got.Containers {
		images = append(images, c.Image)
	}
	if diff := cmp.Diff(want, images); diff != "" {
		t.Errorf("%s: %s", kind, diff)
	}
}

// BenchmarkReadLarge reads the largest objects that an API server takes.
func BenchmarkReadLarge(b *testing.B) {
	pad := func(format string, n int) []byte {
		item := fmt.Sprintf(format, strings.Repeat("x", 60))
		return []byte(strings.Repeat(item+",", n/len(item)) + item)
	}
	const size = 3 << 20
	for name, object := range map[string]string{
		"labels":     `{"metadata":{"labels":{"a":"` + strings.Repeat("x", size) + `"}}}`,
		"containers": `{"spec":{"containers":[` + string(pad(`{"name":"c","image":"%s"}`, size)) + `]}}`,
		"expansions": `{"spec":{"containers":[` + string(pad(`{"args":["$(A)$(A)$(A)$(A)"],"env":[{"name":"A","value":"%[1]s%[1]s"},{"name":"A","value":"$(A)$(A)$(A)$(A)$(A)$(A)"}]}`, size)) + `]}}`,
		"variables":  `{"spec":{"containers":[{"args":["$(A)"],"env":[` + string(pad(`{"name":"A","value":"$(A)$(A)%s"}`, size)) + `]}]}}`,
		"unknown":    `{"spec":{"unknown":[` + string(pad(`{"a":[[{"b":"%s"}]]}`, size)) + `]}}`,
		"deep":       `{"spec":{"unknown":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}}`,
	} {
		for _, kind := range []schema.GroupVersionKind{{Version: "v1", Kind: "Pod"}, {Group: source.GroupToolHive, Version: "v1beta1", Kind: mcp}} {
			text := object
			if kind.Kind == mcp {
				text = `{"spec":{"image":"r/a","podTemplateSpec":` + object + `}}`
			}
			b.Run(name+"/"+kind.Kind, func(b *testing.B) {
				for b.Loop() {
					if _, err := Read([]byte(text), kind, ""); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
