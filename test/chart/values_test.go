//go:build chart

package chart

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/controllers/options"
)

// TestRefused: a value that is wrong fails before anything is installed, and the message
// names it and says what it should be. All of them at once: helm takes its time.
func TestRefused(t *testing.T) {
	cases := []struct{ set, says string }{
		{"wbhook.enabled=true", "'': additional properties 'wbhook' not allowed"},
		{"replicas=11", "'/replicas': maximum: got 11, want 10"},
		{"global.imageRegistry=https://registry.example", "'/global/imageRegistry': "},
		{"global.imagePullSecrets[0]=registry", "'/global/imagePullSecrets/0': got string, want object"},
		{"manager.image.digest=sha256:12", "'/manager/image/digest': "},
		{"manager.image.tag=a b", "'/manager/image/tag': "},
		{"manager.image.pullPolicy=Sometimes", "'/manager/image/pullPolicy': value must be one of "},
		{"runner.image.pullPolicy=Always", "'/runner/image': additional properties 'pullPolicy' not allowed"},
		{"podDisruptionBudget.maxUnavailable=0", "'/podDisruptionBudget/maxUnavailable': "},
		{"topologySpreadConstraints[0].maxSkew=1", "'/topologySpreadConstraints/0': missing properties 'topologyKey', 'whenUnsatisfiable'"},
		{"resources.limits.memory=512 MB", "'/resources/limits/memory': "},
		{"resources.limits.gpu=1", "'/resources/limits': additional properties 'gpu' not allowed"},
		{"goMemLimit=230MB", "'/goMemLimit': "},
		{"gate.replicas=11", "'/gate/replicas': maximum: got 11, want 10"},
		{"networkPolicy.apiServers[0]=192.0.2.1", "'/networkPolicy/apiServers/0': "},
		{"nodeSelector.pool=1", "'/nodeSelector/pool': got number, want string"},
		{"affinity.node.x=y", "'/affinity': additional properties 'node' not allowed"},
		{"priorityClassName=Not A Name", "'/priorityClassName': "},
		{"logLevel=debug", "'/logLevel': value must be one of "},
		{"config.worker=8", "'/config': additional properties 'worker' not allowed"},
		{"config.workers=101", "'/config/workers': maximum: got 101, want 100"},
		{"config.slots.total=0", "'/config/slots/total': minimum: got 0, want 1"},
		{"config.maxVerdictAge=1 day", "'/config/maxVerdictAge': "},
		{"config.deadlines.pull=90", "'/config/deadlines/pull': got number, want string"},
		{"config.server.cpu=1", "'/config/server/cpu': got number, want string"},
		{"config.userNamespaces=auto", "'/config/userNamespaces': value must be one of "},
		{"config.gate.certificate=Mine", "'/config/gate/certificate': value must be one of "},
		{"config.podTemplate.spec.hostNetwork=true", "'/config/podTemplate/spec': additional properties 'hostNetwork' not allowed"},
		{"crds.keep=false", "'/crds': additional properties 'keep' not allowed"},
		{"crds.install=maybe", "'/crds/install': got string, want boolean"},
		{"runNamespace.name=elsewhere", "'/runNamespace': additional properties 'name' not allowed"},
		{"runNamespace.labels.pod-security\\.kubernetes\\.io/enforce=baseline", "'/runNamespace/labels/pod-security.kubernetes.io~1enforce': "},
		{"podLabels.app\\.kubernetes\\.io/name=mine", "'/podLabels/app.kubernetes.io~1name': "},
		{"podAnnotations.checksum/config=x", "'/podAnnotations/checksum~1config': "},
		{"runNamespace.quota.hard.pods=20", "'/runNamespace/quota/hard/pods': got number, want string"},
		{"networkPolicy.metricsFrom.podSelector=x", "'/networkPolicy/metricsFrom': additional properties 'podSelector' not allowed"},
		{"webhook.failurePolicy=Deny", "'/webhook/failurePolicy': value must be one of 'Ignore', 'Fail'"},
		{"webhook.timeoutSeconds=31", "'/webhook/timeoutSeconds': maximum: got 31, want 30"},
		{"admissionPolicies.keepers.groups[0]=two words", "'/admissionPolicies/keepers/groups/0': "},
		{"metrics.serviceMonitor.interval=1 minute", "'/metrics/serviceMonitor/interval': "},
		{"networkPolicy.enabled=null", "'/networkPolicy': missing property 'enabled'"},
		{"metrics.dashboard.labels=x", "'/metrics/dashboard/labels': got string, want object"},
	}
	var args []string
	for _, c := range cases {
		args = append(args, "--set", c.set)
	}
	_, err := template(t, args...)
	if err == nil {
		t.Fatal("all of it is accepted")
	}
	for _, c := range cases {
		if !strings.Contains(err.Error(), "- at "+c.says) {
			t.Errorf("%s: the message does not say %q:\n%v", c.set, c.says, err)
		}
	}
}

// TestContradictions: what the schema cannot say, templates do.
func TestContradictions(t *testing.T) {
	for set, says := range map[string]string{
		"config.slots.perNamespace=3":    "config.slots.perNamespace: 3 is more than config.slots.total, which is 2",
		"metrics.reader.name=prometheus": "metrics.reader: name and namespace are of one service account",
	} {
		if _, err := template(t, "--set", set); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: the message does not say %q: %v", set, says, err)
		}
	}
}

// TestNamespace: the chart is for one namespace, and says so.
func TestNamespace(t *testing.T) {
	_, err := helm(t, "template", "mcpaudit", chart, "--namespace", "elsewhere")
	if err == nil || !strings.Contains(err.Error(), "--namespace mcpaudit-system --create-namespace") {
		t.Errorf("a release elsewhere is not refused with what to do: %v", err)
	}
}

// values returns the values of values.yaml.
func values(t *testing.T) (map[string]any, string) {
	t.Helper()
	text, err := os.ReadFile(chart + "/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := yaml.UnmarshalStrict(text, &all); err != nil {
		t.Fatal(err)
	}
	return all, string(text)
}

// TestConfigIsTheDefault: the values have the configuration of config/manager.
func TestConfigIsTheDefault(t *testing.T) {
	text, err := os.ReadFile(root + "/config/manager/config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var want any
	if err := yaml.UnmarshalStrict(text, &want); err != nil {
		t.Fatal(err)
	}
	all, _ := values(t)
	if diff := cmp.Diff(want, all["config"]); diff != "" {
		t.Errorf("config of values.yaml is not config/manager/config.yaml (-config/ +chart):\n%s", diff)
	}
}

// schema has the part of a JSON schema that names keys.
type schema struct {
	Ref                  string            `json:"$ref"`
	Properties           map[string]schema `json:"properties"`
	AdditionalProperties any               `json:"additionalProperties"`
	Definitions          map[string]schema `json:"definitions"`
	Items                *schema           `json:"items"`
}

func readSchema(t *testing.T) schema {
	t.Helper()
	text, err := os.ReadFile(chart + "/values.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var s schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// leaves are the paths of a schema below which there are no named keys.
func (s schema) leaves(prefix string) []string {
	if len(s.Properties) == 0 {
		return []string{prefix}
	}
	var all []string
	for key, inner := range s.Properties {
		all = append(all, inner.leaves(strings.TrimPrefix(prefix+"."+key, "."))...)
	}
	slices.Sort(all)
	return all
}

// closed fails for an object that takes keys that it does not name. Only a parent chart
// has a say about global.
func (s schema) closed(t *testing.T, path string) {
	if len(s.Properties) > 0 && s.AdditionalProperties != false && path != ".global" && !strings.HasPrefix(path, ".topologySpreadConstraints") {
		t.Errorf("%s takes any key", path)
	}
	for key, inner := range s.Properties {
		inner.closed(t, path+"."+key)
	}
	if s.Items != nil {
		s.Items.closed(t, path+"[]")
	}
}

// TestSchema: it is closed, and has a place for just what values.yaml has.
func TestSchema(t *testing.T) {
	s := readSchema(t)
	s.closed(t, "")
	all, _ := values(t)
	for _, path := range s.leaves("") {
		// These have keys without a default.
		if at(all, path) == nil && !slices.ContainsFunc([]string{"config.", "affinity.", "resources.", "gate.resources.", "networkPolicy.metricsFrom."}, func(p string) bool { return strings.HasPrefix(path, p) }) {
			t.Errorf("values.yaml has no %s", path)
		}
	}
}

func at(values map[string]any, path string) any {
	return object(values).at(strings.Split(path, ".")...)
}

// TestConfigKeys: the schema knows the keys of the configuration that the manager knows.
// controllers/options sees to it that docs/configuration.md has all of those.
func TestConfigKeys(t *testing.T) {
	known := readSchema(t).Properties["config"].leaves("")
	for _, key := range known {
		file := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(file, []byte(nested(key)), 0o600); err != nil {
			t.Fatal(err)
		}
		o := options.Default()
		o.RunnerImage, o.File = "runner", file
		if err := o.Load(); err != nil && strings.Contains(err.Error(), "unknown field") {
			t.Errorf("the schema has config.%s, which the manager does not know: %v", key, err)
		}
	}
	text, err := os.ReadFile(root + "/docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Keys\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := regexp.MustCompile("(?m)^\\| `([A-Za-z.]+)` \\|").FindAllStringSubmatch(section, -1)
	if len(rows) < 20 {
		t.Fatalf("docs/configuration.md has %d rows with keys", len(rows))
	}
	for _, row := range rows {
		if !slices.ContainsFunc(known, func(k string) bool { return k == row[1] || strings.HasPrefix(k, row[1]+".") }) {
			t.Errorf("the schema has no config.%s", row[1])
		}
	}
}

// nested is a file with the one key.
func nested(key string) string {
	parts := strings.Split(key, ".")
	return "{" + strings.Join(parts, ": {") + ": null" + strings.Repeat("}", len(parts))
}

// TestDocumented: README.md of the chart has a row for each value with its default, and
// no row for what is not there.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile(chart + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	all, _ := values(t)
	want := map[string]string{}
	flatten(all, "", want)
	have := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (?:`([^`]*)`|) ?\\| .*\\S.* \\|$").FindAllStringSubmatch(string(text), -1) {
		have[row[1]] = row[2]
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("README.md does not list the values as they are (-values.yaml +README.md):\n%s", diff)
	}
}

// opaque are values that are told of as one.
var opaque = []string{"config", "networkPolicy.metricsFrom", "topologySpreadConstraints", "runNamespace.quota.hard", "runNamespace.limitRange.default",
	"runNamespace.limitRange.defaultRequest", "runNamespace.limitRange.max", "metrics.dashboard.labels", "metrics.dashboard.annotations", "resources", "gate.resources"}

// flatten are the values by their paths, as JSON; empty for what is opaque.
func flatten(values map[string]any, prefix string, into map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		path := strings.TrimPrefix(prefix+"."+key, ".")
		inner, isMap := values[key].(map[string]any)
		switch {
		case slices.Contains(opaque, path):
			into[path] = ""
		case isMap && len(inner) > 0:
			flatten(inner, path, into)
		default:
			encoded, _ := json.Marshal(values[key])
			into[path] = fmt.Sprint(string(encoded))
		}
	}
}
