package subject

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// readYAML reads an object as the webhook would get it.
func readYAML(t *testing.T, text []byte) (gate.Subject, error) {
	t.Helper()
	object, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		t.Fatal(err)
	}
	var of metav1.TypeMeta
	if err := yaml.Unmarshal(text, &of); err != nil {
		t.Fatal(err)
	}
	return Read(object, of.GroupVersionKind(), "")
}

// Each file has an object, and what it is read as.
func TestRead(t *testing.T) {
	files, err := filepath.Glob("testdata/read/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			object, expected, _ := bytes.Cut(text, []byte("---\n"))
			var want gate.Subject
			if err := yaml.UnmarshalStrict(expected, &want); err != nil {
				t.Fatal(err)
			}
			got, err := readYAML(t, object)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(gate.Container{}, "Environment")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatIsNotRead(t *testing.T) {
	pod, deployment := schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	for _, c := range []struct {
		name, object, subresource string
		kind                      schema.GroupVersionKind
		unknown                   bool
	}{
		{"another kind", `{}`, "", schema.GroupVersionKind{Group: "batch", Kind: "Pod"}, true},
		{"another subresource", `{}`, "scale", deployment, true},
		{"ephemeral containers of no Pod", `{}`, "ephemeralcontainers", deployment, true},
		{"nothing", ``, "", pod, false},
		{"null", ` null`, "", pod, false},
		{"a list", `[]`, "", pod, false},
		{"half an object", `{"spec":{"containers":[`, "", pod, false},
		{"two objects", `{}{}`, "", pod, false},
		{"a wrong type", `{"spec":{"containers":{"image":"i"}}}`, "", pod, false},
		{"two images", `{"spec":{"containers":[{"image":"a","image":"b"}]}}`, "", pod, false},
		{"two templates", `{"spec":{"template":{},"template":{"spec":{}}}}`, "", deployment, false},
		{"two of a label", `{"metadata":{"labels":{"a":"b","a":"c"}}}`, "", pod, false},
		{"labels of a server", `{"metadata":{"labels":[]}}`, "", schema.GroupVersionKind{Group: "kagent.dev", Kind: "MCPServer"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Read([]byte(c.object), c.kind, c.subresource)
			if err == nil || errors.Is(err, ErrUnknown) != c.unknown {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestTheCaseOfNamesCounts(t *testing.T) {
	got, err := Read([]byte(`{"Spec":{"containers":[{"image":"a"}]},"spec":{"containers":[{"name":"c","image":"b","Image":"c","IMAGE":"d"}]}}`),
		schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, "ephemeralcontainers")
	want := []gate.Container{{Name: "c", Role: gate.RoleContainer, Image: "b"}}
	if diff := cmp.Diff(want, got.Containers); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
