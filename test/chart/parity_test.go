//go:build chart

package chart

import (
	"maps"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// differences lists where the chart is not as kustomize, and why.
var differences = map[string]string{
	"Namespace mcpaudit-system":            "helm makes the namespace of a release itself, before it installs anything: NOTES.txt says how to label it",
	"ServiceAccount mcpaudit-runs/default": "the cluster makes it as soon as there is the namespace, and helm 3 fails at what is there already; audit Pods ask for no token themselves",
	"ConfigMap mcpaudit-system/mcpaudit-config": "kustomize names it by its content; with helm a checksum in the Pod template does the same, so that the name stays for rollbacks. " +
		"The texts differ by comments: what they say is compared",
}

// of are labels and annotations that only helm sets.
var (
	helmLabels      = []string{"app.kubernetes.io/instance", "app.kubernetes.io/managed-by", "app.kubernetes.io/version", "helm.sh/chart"}
	helmAnnotations = []string{"helm.sh/resource-policy", "checksum/config"}
	hashed          = regexp.MustCompile(`^mcpaudit-config-[a-z0-9]{10}$`)
)

// TestSameAsKustomize: who installs by config/ has what who installs by the chart has.
func TestSameAsKustomize(t *testing.T) {
	for name, c := range map[string]struct {
		folders []string
		args    []string
	}{
		"default": {folders: []string{"default"}},
		"monitoring": {
			folders: []string{"default", "prometheus", "grafana"},
			args: []string{"--set", "metrics.serviceMonitor.enabled=true,metrics.prometheusRule.enabled=true,metrics.dashboard.enabled=true," +
				"metrics.reader.name=prometheus-k8s,metrics.reader.namespace=monitoring"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var want []object
			for _, folder := range c.folders {
				want = append(want, parse(t, kustomize(t, "config/"+folder))...)
			}
			compare(t, byID(normalise(want)), byID(normalise(rendered(t, c.args...))))
		})
	}
}

func compare(t *testing.T, want, have map[string]object) {
	for id := range maps.Keys(want) {
		switch reason := differences[id]; {
		case id == "ConfigMap mcpaudit-system/mcpaudit-config":
			if diff := cmp.Diff(configuration(t, want[id]), configuration(t, have[id])); diff != "" {
				t.Errorf("the configuration differs (-config/ +chart):\n%s", diff)
			}
		case reason != "" && have[id] == nil:
		case reason != "":
			t.Errorf("%s is in the chart by now: take it off the list of differences", id)
		case have[id] == nil:
			t.Errorf("the chart has no %s", id)
		default:
			if diff := cmp.Diff(want[id], have[id]); diff != "" {
				t.Errorf("%s differs (-config/ +chart):\n%s", id, diff)
			}
		}
	}
	for id := range maps.Keys(have) {
		if want[id] == nil {
			t.Errorf("config/ has no %s", id)
		}
	}
}

// kustomize builds a folder.
func kustomize(t *testing.T, folder string) string {
	t.Helper()
	command := exec.Command("go", "tool", "-modfile=hack/tools/go.mod", "kustomize", "build", folder)
	command.Dir, command.Stderr = root, os.Stderr
	stream, err := command.Output()
	if err != nil {
		t.Fatalf("build %s: %v", folder, err)
	}
	return string(stream)
}

// normalise takes off what only one of the two can have. The label part-of is set by
// config/default, and by none of the folders beside it.
func normalise(objects []object) []object {
	for _, o := range objects {
		metadata := o["metadata"].(map[string]any)
		if name := o.text("metadata", "name"); o["kind"] == "ConfigMap" && hashed.MatchString(name) {
			metadata["name"] = "mcpaudit-config"
		}
		strip(metadata, "labels", append(helmLabels, "app.kubernetes.io/part-of"))
		strip(metadata, "annotations", helmAnnotations)
		if o["kind"] != "Deployment" {
			continue
		}
		strip(o.at("spec", "template", "metadata").(map[string]any), "annotations", helmAnnotations)
		volumes, _ := o.at("spec", "template", "spec", "volumes").([]any)
		for _, volume := range volumes {
			if source := object(volume.(map[string]any)).at("configMap"); source != nil && hashed.MatchString(object(source.(map[string]any)).text("name")) {
				source.(map[string]any)["name"] = "mcpaudit-config"
			}
		}
	}
	return objects
}

func strip(metadata map[string]any, field string, keys []string) {
	of, ok := metadata[field].(map[string]any)
	for _, key := range keys {
		delete(of, key)
	}
	if ok && len(of) == 0 {
		delete(metadata, field)
	}
}

// configuration returns what the ConfigMap says to the manager.
func configuration(t *testing.T, configMap object) any {
	t.Helper()
	var config any
	if err := yaml.Unmarshal([]byte(configMap.text("data", "config.yaml")), &config); err != nil {
		t.Fatal(err)
	}
	return config
}

// TestPartOf: the label that config/default sets is on every object of the chart.
func TestPartOf(t *testing.T) {
	for _, o := range rendered(t) {
		if o.text("metadata", "labels", "app.kubernetes.io/part-of") != "mcpaudit" {
			t.Errorf("%s is not labelled as part of mcpaudit", o.id())
		}
	}
}

// TestPackaged: the package renders as the folder does; .helmignore leaves out
// nothing that is needed.
func TestPackaged(t *testing.T) {
	folder := t.TempDir()
	said, err := helm(t, "package", chart, "--destination", folder)
	if err != nil {
		t.Fatal(err)
	}
	archive := strings.TrimSpace(said[strings.LastIndex(said, ": ")+2:])
	packed, err := helm(t, "template", "mcpaudit", archive, "--namespace", "mcpaudit-system")
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := template(t)
	if err != nil {
		t.Fatal(err)
	}
	if packed != unpacked {
		t.Errorf("the package renders something else (-folder +package):\n%s", cmp.Diff(unpacked, packed))
	}
}
