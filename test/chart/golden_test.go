//go:build chart

package chart

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/test/golden"
)

// TestGolden: what each of testdata/*.values.yaml renders. The defaults are there in
// full, but for what is copied from config/; the others by what they change.
func TestGolden(t *testing.T) {
	defaults := byID(rendered(t))
	files, err := filepath.Glob("testdata/*.values.yaml")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d files of values: %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".values.yaml")
		t.Run(name, func(t *testing.T) {
			if said, err := helm(t, "lint", "--strict", chart, "--namespace", "mcpaudit-system", "--values", file); err != nil {
				t.Errorf("helm lint: %v\n%s", err, said)
			}
			objects := rendered(t, "--values", file)
			for _, o := range objects {
				strictly(t, o)
			}
			against := defaults
			if name == "defaults" {
				against = nil
			}
			golden.Compare(t, "testdata/"+name+".golden", describe(t, objects, against))
		})
	}
}

// describe tells of objects, and of how they are not as others.
func describe(t *testing.T, objects []object, others map[string]object) string {
	var text strings.Builder
	have := byID(objects)
	for id := range others {
		if have[id] == nil {
			have[id] = nil
		}
	}
	ids := make([]string, 0, len(have))
	for id := range have {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		switch o := have[id]; {
		case o == nil:
			fmt.Fprintf(&text, "# without %s\n", id)
		case others[id] == nil || !cmp.Equal(o, others[id]):
			encoded, err := yaml.Marshal(shortened(o))
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&text, "---\n# %s\n%s", id, encoded)
		}
	}
	return text.String()
}

// shortened leaves out what is copied from config/, which has its own tests.
func shortened(o object) object {
	short := object{}
	for key, value := range o {
		copied := o["kind"] == "CustomResourceDefinition" || o["kind"] == "ValidatingAdmissionPolicy" || o["kind"] == "PrometheusRule" ||
			strings.Contains(o.text("kind"), "Role") || o.text("metadata", "name") == "mcpaudit-dashboard"
		if copied && slices.Contains([]string{"spec", "rules", "data"}, key) {
			value = "(as in config/)"
		}
		if webhooks, ok := value.([]any); ok && key == "webhooks" {
			only := webhooks[0].(map[string]any)
			value = []any{map[string]any{"name": only["name"], "failurePolicy": only["failurePolicy"], "timeoutSeconds": only["timeoutSeconds"]}}
		}
		short[key] = value
	}
	return short
}

// kinds decodes the kinds of Kubernetes, and refuses fields that they do not have.
var kinds = serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()

// strictly fails for a field that the kind does not have. CRDs, and what the Prometheus
// operator brings, are compared with config/ elsewhere.
func strictly(t *testing.T, o object) {
	t.Helper()
	if strings.HasPrefix(o.text("apiVersion"), "monitoring.coreos.com/") || o["kind"] == "CustomResourceDefinition" {
		return
	}
	encoded, err := yaml.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := kinds.Decode(encoded, nil, nil); err != nil {
		t.Errorf("%s: %v", o.id(), err)
	}
}

// TestConfigRestarts: a changed configuration starts the manager anew, and nothing else
// does.
func TestConfigRestarts(t *testing.T) {
	const id = "Deployment mcpaudit-system/mcpaudit-controller-manager"
	template := func(args ...string) any { return find(t, rendered(t, args...), id).at("spec", "template") }
	if cmp.Equal(template(), template("--set", "config.workers=9")) {
		t.Error("another configuration leaves the Pods as they are")
	}
	if diff := cmp.Diff(template(), template("--set", "crds.install=false,webhook.failurePolicy=Fail,replicas=3")); diff != "" {
		t.Errorf("what is not about the Pods changes them:\n%s", diff)
	}
}

// TestNotes: what is said after the installation is the next two commands, and what else
// has to be done for these values.
func TestNotes(t *testing.T) {
	const certificate, secrets = "no replica of the gate is ready before the Secret", "name it in config.runner.imagePullSecrets"
	const registries, editors, gate = "list yours in config.registries", "--clusterrole=mcpaudit-editor", "Nothing is denied yet."
	for set, says := range map[string]map[string]bool{
		"replicas=2": {"\n   kubectl apply ": true, "\n   kubectl get mcpserveraudits ": true, certificate: false, secrets: false, registries: true, editors: true, gate: true},
		"config.registries.internal={10.0.0.0/8}":  {registries: false},
		"config.registries=null":                   {registries: true},
		"rbac.aggregateToEdit=true":                {editors: false},
		"config.gate.certificate=External":         {certificate: true},
		"config.gate=null":                         {certificate: false},
		"global.imagePullSecrets[0].name=registry": {secrets: true},
		"global.imagePullSecrets[0].name=registry,config.runner.imagePullSecrets[0].name=registry": {secrets: false},
		"webhook.enabled=false": {"webhook.enabled is false": true, gate: false},
	} {
		said, err := helm(t, "install", "mcpaudit", chart, "--namespace", "mcpaudit-system", "--dry-run=client", "--hide-secret", "--set", set)
		if err != nil {
			t.Fatal(err)
		}
		_, notes, found := strings.Cut(said, "\nNOTES:\n")
		if !found {
			t.Fatalf("%s: no notes in:\n%s", set, said)
		}
		for text, want := range says {
			if strings.Contains(notes, text) != want {
				t.Errorf("%s: that the notes say %q is %v:\n%s", set, text, !want, notes)
			}
		}
	}
}

// TestKept: README.md says what stays when the release is uninstalled.
func TestKept(t *testing.T) {
	text, err := os.ReadFile(chart + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, stays, found := strings.Cut(string(text), "\n## Uninstalling\n")
	if !found {
		t.Fatal("README.md has no section Uninstalling")
	}
	kept := 0
	for _, o := range rendered(t) {
		policy := o.text("metadata", "annotations", "helm.sh/resource-policy")
		if policy == "" {
			continue
		}
		kept++
		if policy != "keep" || !strings.Contains(stays, "`"+o.text("metadata", "name")+"`") {
			t.Errorf("README.md does not say that %s stays", o.id())
		}
	}
	if kept != 8 {
		t.Errorf("%d objects stay, and not 8: five CRDs, and the policy, the binding and the ConfigMap of the gate's label", kept)
	}
}
