package subject

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// known are the fields of a Pod that have to do with images, and whether Read has to
// read them.
var known = map[string]bool{
	"containers[].image":                    true,
	"initContainers[].image":                true,
	"ephemeralContainers[].image":           true,
	"volumes[].image.reference":             true,
	"volumes[].image.pullPolicy":            false,
	"containers[].imagePullPolicy":          false,
	"initContainers[].imagePullPolicy":      false,
	"ephemeralContainers[].imagePullPolicy": false,
	"imagePullSecrets[].name":               false,
	"volumes[].rbd.image":                   false, // of a block device
}

// A new version of Kubernetes may have a new way to bring an image into a Pod, by a
// field that is called so, or by another list of containers.
func TestAllImagesOfAPodAreKnown(t *testing.T) {
	found := fieldsOf(reflect.TypeFor[corev1.PodSpec](), "", func(path string) bool {
		return strings.Contains(strings.ToLower(path), "image") || strings.Contains(strings.ToLower(path), "oci") || strings.Contains(strings.ToLower(path), "artifact")
	})
	for _, path := range found {
		if _, ok := known[path]; !ok {
			t.Errorf("%s is not known: if it brings in an image, Read has to read it", path)
		}
	}
	for path := range known {
		if !slices.Contains(found, path) {
			t.Errorf("%s is no field of a Pod", path)
		}
	}
	var lists []string
	for _, path := range fieldsOf(reflect.TypeFor[corev1.PodSpec](), "", func(path string) bool { return strings.HasSuffix(path, ".command[]") }) {
		if !strings.Contains(path, "Probe.") && !strings.Contains(path, ".lifecycle.") { // which run in a container
			lists = append(lists, path)
		}
	}
	if want := []string{"containers[].command[]", "ephemeralContainers[].command[]", "initContainers[].command[]"}; !slices.Equal(lists, want) {
		t.Errorf("commands are in %v", lists)
	}
}

// fieldsOf are the paths of all texts in a type, as JSON writes them, that are wanted.
func fieldsOf(of reflect.Type, path string, wanted func(path string) bool, within ...reflect.Type) []string {
	if slices.Contains(within, of) {
		return nil
	}
	within = append(slices.Clone(within), of)
	var found []string
	switch of.Kind() {
	case reflect.Pointer:
		found = fieldsOf(of.Elem(), path, wanted, within...)
	case reflect.Slice, reflect.Array, reflect.Map:
		found = fieldsOf(of.Elem(), path+"[]", wanted, within...)
	case reflect.String, reflect.Interface:
		if wanted(path) {
			found = []string{path}
		}
	case reflect.Struct:
		for i := range of.NumField() {
			field := of.Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			at := path
			if name != "" {
				at = strings.TrimPrefix(path+"."+name, ".")
			}
			found = append(found, fieldsOf(field.Type, at, wanted, within...)...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// What is known to bring in an image is read, from every kind that makes Pods.
func TestAllImagesAreRead(t *testing.T) {
	var spec any = map[string]any{}
	var want []string
	for path, read := range known {
		if read {
			want = append(want, path)
			spec = put(spec, strings.Split(path, "."), path)
		}
	}
	slices.Sort(want)
	template := map[string]any{"spec": spec}
	objects := map[schema.GroupKind]any{
		{Kind: "Pod"}:                     template,
		{Kind: "PodTemplate"}:             map[string]any{"template": template},
		{Group: "batch", Kind: "CronJob"}: nest(template, "template", "spec", "jobTemplate", "spec"),
	}
	for kind := range kinds {
		if kind.Kind == mcp {
			continue // by their own files
		}
		object, ok := objects[kind]
		if !ok {
			object = nest(template, "template", "spec")
		}
		t.Run(kind.String(), func(t *testing.T) {
			encoded, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			subject, err := Read(encoded, kind.WithVersion("v1"), "")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range subject.Containers {
				got = append(got, c.Image)
			}
			slices.Sort(got)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("read %v, want %v", got, want)
			}
		})
	}
}

// nest puts a value into objects, innermost first.
func nest(value any, names ...string) any {
	for _, name := range names {
		value = map[string]any{name: value}
	}
	return value
}

// put sets a field by its path, in which "[]" is the first item of a list.
func put(into any, path []string, value string) any {
	if len(path) == 0 {
		return value
	}
	object, _ := into.(map[string]any)
	if object == nil {
		object = map[string]any{}
	}
	name, isList := strings.CutSuffix(path[0], "[]")
	if !isList {
		object[name] = put(object[name], path[1:], value)
		return object
	}
	list, _ := object[name].([]any)
	object[name] = append(list, put(nil, path[1:], value))
	return object
}
