//go:build chart

package chart

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"
)

const (
	root  = "../.."
	chart = root + "/charts/mcp-audit-operator"
)

// program is helm, built once.
var program = sync.OnceValues(func() (string, error) {
	command := exec.Command(root+"/hack/helm.sh", "--path")
	command.Stderr = os.Stderr
	path, err := command.Output()
	return strings.TrimSpace(string(path)), err
})

// helm runs helm, and returns what it says on stdout, or an error of what it says on
// stderr.
func helm(t *testing.T, args ...string) (string, error) {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(path, args...)
	// Nothing of the person's own: repositories, plugins, the cluster.
	home := t.TempDir()
	command.Env = append(os.Environ(), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home, "KUBECONFIG="+home+"/none")
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("%w: %s", err, stderr.String())
	}
	return stdout.String(), nil
}

// template renders the chart as it is installed, with further arguments of helm.
func template(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return helm(t, append([]string{"template", "mcpaudit", chart, "--namespace", "mcpaudit-system"}, args...)...)
}

// rendered returns what template returns, parsed; it has to succeed.
func rendered(t *testing.T, args ...string) []object {
	t.Helper()
	text, err := template(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, text)
}

// object is one of a stream of YAML.
type object map[string]any

// parse reads a stream, and fails if an object is there twice.
func parse(t *testing.T, stream string) []object {
	t.Helper()
	var all []object
	seen := map[string]bool{}
	for _, document := range strings.Split("\n"+stream, "\n---\n") {
		var o object
		if err := yaml.UnmarshalStrict([]byte(document), &o); err != nil {
			t.Fatalf("%v in:\n%s", err, document)
		}
		if len(o) == 0 {
			continue
		}
		if seen[o.id()] {
			t.Errorf("%s is there twice", o.id())
		}
		seen[o.id()] = true
		all = append(all, o)
	}
	return all
}

// id is such as "Role mcpaudit-runs/mcpaudit-manager".
func (o object) id() string {
	name := o.text("metadata", "name")
	if namespace := o.text("metadata", "namespace"); namespace != "" {
		name = namespace + "/" + name
	}
	return o.text("kind") + " " + name
}

// at returns what lies under the keys; nil if nothing does.
func (o object) at(keys ...string) any {
	var value any = map[string]any(o)
	for _, key := range keys {
		inner, _ := value.(map[string]any)
		value = inner[key]
	}
	return value
}

func (o object) text(keys ...string) string {
	text, _ := o.at(keys...).(string)
	return text
}

// byID are the objects by their ids.
func byID(objects []object) map[string]object {
	all := map[string]object{}
	for _, o := range objects {
		all[o.id()] = o
	}
	return all
}

// find returns the object with the id.
func find(t *testing.T, objects []object, id string) object {
	t.Helper()
	o, ok := byID(objects)[id]
	if !ok {
		t.Fatalf("no %s is rendered", id)
	}
	return o
}
