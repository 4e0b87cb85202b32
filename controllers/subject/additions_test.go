package subject

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/controllers/gate"
	"github.com/mcpaudit/mcpaudit/controllers/source"
)

// TestS16Additions: what containers add to their images is read wherever containers are.
func TestS16Additions(t *testing.T) {
	const container = `{name: a, image: r/a, env: [{name: A, value: b}, {name: LD_PRELOAD, valueFrom: {secretKeyRef: {name: s, key: k}}}, {name: HOME, value: /x}], envFrom: [{prefix: X_}],
  volumeMounts: [{name: v, mountPath: /app/x, subPath: y}, {name: v, mountPath: /etc/a}], volumeDevices: [{name: d, devicePath: /app/d}],
  terminationMessagePath: /app/guard.js,
  lifecycle: {postStart: {exec: {command: [x]}}, preStop: {httpGet: {port: 1}}}, livenessProbe: {exec: {}}, readinessProbe: {tcpSocket: {port: 1}}, startupProbe: {exec: {command: [y]}}}`
	wantEnvironment := gate.Environment{Variables: map[string]string{"A": "b"}, Unread: []string{"HOME", "LD_PRELOAD"}, From: true}
	wantAdditions := gate.Additions{Mounts: []string{"/app/d", "/app/guard.js", "/app/x", "/etc/a"}, Commands: []string{"lifecycle.postStart.exec", "livenessProbe.exec", "startupProbe.exec"}}
	for _, object := range []string{
		`{apiVersion: v1, kind: Pod, spec: {containers: [` + container + `]}}`,
		`{apiVersion: v1, kind: Pod, spec: {initContainers: [` + container + `]}}`,
		`{apiVersion: v1, kind: Pod, spec: {ephemeralContainers: [` + container + `]}}`,
		`{apiVersion: apps/v1, kind: Deployment, spec: {template: {spec: {containers: [` + container + `]}}}}`,
		`{apiVersion: batch/v1, kind: CronJob, spec: {jobTemplate: {spec: {template: {spec: {containers: [` + container + `]}}}}}}`,
		`{apiVersion: kagent.dev/v1alpha1, kind: MCPServer, spec: {transportType: stdio, deployment: {image: r/s, cmd: x, sidecars: [` + container + `]}}}`,
	} {
		read, err := readYAML(t, []byte(object))
		if err != nil {
			t.Fatal(err)
		}
		got := read.Containers[len(read.Containers)-1]
		if diff := cmp.Diff(wantEnvironment, got.Environment) + cmp.Diff(wantAdditions, got.Additions); diff != "" {
			t.Errorf("%s: %s", object[:60], diff)
		}
	}
}

// U2: the file that every container has for its termination message is no addition.
func TestTerminationMessage(t *testing.T) {
	for field, want := range map[string]string{"": "", "terminationMessagePath: /dev/termination-log": "", "terminationMessagePath: /app/server.js": "/app/server.js"} {
		read, err := readYAML(t, []byte(`{apiVersion: v1, kind: Pod, spec: {containers: [{name: a, image: r/a, `+field+`}]}}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(read.Containers[0].Additions.Mounts, " "); got != want {
			t.Errorf("%q mounts %q, want %q", field, got, want)
		}
	}
}

// A value that names another hides none of those beside it.
func TestS16VariablesBesideAnUnclearOne(t *testing.T) {
	read, err := readYAML(t, []byte(`{apiVersion: v1, kind: Pod, spec: {containers: [{name: a, image: r/a, env: [
  {name: URL, value: "http://$(POD_IP)"}, {name: NODE_OPTIONS, value: --max-old-space-size=512}, {name: LD_PRELOAD, value: /x.so}, {name: PYTHONPATH, value: $(X)}]}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := read.Containers[0].Environment; !got.Unclear || !slices.Equal(got.Unread, []string{"LD_PRELOAD", "PYTHONPATH", "URL"}) {
		t.Errorf("got %+v", got)
	}
}

// The servers of MCPServer objects have what the object itself adds to them.
func TestS16AdditionsOfServers(t *testing.T) {
	for name, c := range map[string]struct {
		group, object string
		mounts        []string
		unread        []string
		from          bool
		commands      []string
	}{
		"ToolHive": {source.GroupToolHive, `{spec: {image: r/a, volumes: [{name: v, hostPath: /x, mountPath: /app}], secrets: [{name: s, key: k, targetEnvName: NODE_OPTIONS}],
  podTemplateSpec: {spec: {containers: [{name: mcp, envFrom: [{}], volumeMounts: [{mountPath: /lib}], readinessProbe: {exec: {}}}]}}}}`,
			[]string{"/app", "/lib"}, []string{"NODE_OPTIONS"}, true, []string{"readinessProbe.exec"}},
		"kmcp": {source.GroupKmcp, `{spec: {transportType: stdio, deployment: {image: r/a, cmd: x, volumeMounts: [{name: v, mountPath: /app}], configMapRefs: [{name: m}], secretRefs: [{name: s}]}}}`,
			[]string{"/app", "/configmaps/m"}, nil, true, nil},
		"mcp.x-k8s.io": {source.GroupLifecycle, `{spec: {source: {containerImage: {ref: r/a}}, config: {port: 1, envFrom: [{}], storage: [{path: /app, source: {type: ConfigMap}}]}}}`,
			[]string{"/app"}, nil, true, nil},
	} {
		object, err := yaml.YAMLToJSON([]byte(c.object))
		if err != nil {
			t.Fatal(err)
		}
		read, err := Read(object, schema.GroupVersionKind{Group: c.group, Version: "v1", Kind: mcp}, "")
		if err != nil {
			t.Fatal(err)
		}
		got := read.Containers[0]
		if !slices.Equal(got.Additions.Mounts, c.mounts) || !slices.Equal(got.Environment.Unread, c.unread) || got.Environment.From != c.from || !slices.Equal(got.Additions.Commands, c.commands) {
			t.Errorf("%s: %+v %+v", name, got.Environment, got.Additions)
		}
	}
}

// TestExecFields: the API of Kubernetes has no other field of a container by which the
// kubelet executes a command in it.
func TestExecFields(t *testing.T) {
	var found []string
	var walk func(path string, of reflect.Type)
	walk = func(path string, of reflect.Type) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of == reflect.TypeFor[corev1.ExecAction]() {
			found = append(found, path)
		}
		if of.Kind() != reflect.Struct || of.PkgPath() != "k8s.io/api/core/v1" {
			return
		}
		for i := range of.NumField() {
			walk(path+"."+of.Field(i).Name, of.Field(i).Type)
		}
	}
	walk("", reflect.TypeFor[corev1.Container]())
	want := []string{
		".LivenessProbe.ProbeHandler.Exec", ".ReadinessProbe.ProbeHandler.Exec", ".StartupProbe.ProbeHandler.Exec", ".Lifecycle.PostStart.Exec", ".Lifecycle.PreStop.Exec",
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("Additions of package source has other fields: %s", diff)
	}
}
