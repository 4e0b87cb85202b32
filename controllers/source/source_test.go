package source

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// readers by the name that a case gives them.
var readers = map[string]Reader{"workload": Workload, "toolhive": ToolHive, "kmcp": Kmcp, "lifecycle": Lifecycle}

// object reads YAML as an API server would give it.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	encoded, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	read := &unstructured.Unstructured{}
	if err := json.Unmarshal(encoded, &read.Object); err != nil {
		t.Fatal(err)
	}
	// Numbers as the API machinery reads them: whole ones are int64.
	read.Object = whole(read.Object).(map[string]any)
	return read
}

func whole(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for k := range v {
			v[k] = whole(v[k])
		}
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return value
}

func TestWhatASourceReads(t *testing.T) {
	env := func(pairs ...string) (list []v1alpha1.EnvVar) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, v1alpha1.EnvVar{Name: pairs[i], Value: pairs[i+1]})
		}
		return list
	}
	for _, c := range []struct {
		name, source, object string
		want                 v1alpha1.Server
		omitted              []string
	}{
		{
			name: "the only container of a Deployment, with all that it is run with", source: "workload", object: `
kind: Deployment
metadata: {labels: {mcpaudit.dev/server: "true"}}
spec: {template: {spec: {
  imagePullSecrets: [{name: b}, {name: a}, {name: b}],
  volumes: [{name: tmp, emptyDir: {}}, {name: config, configMap: {name: c}}],
  containers: [{name: web, image: r/web:1, command: [/web], args: [--port, $(PORT), $(TOKEN), $$(PORT)], workingDir: /srv,
    ports: [{containerPort: 8000}], volumeMounts: [{name: tmp, mountPath: /tmp}, {name: config, mountPath: /etc/web}],
    envFrom: [{secretRef: {name: s}}, {configMapRef: {name: m}}],
    env: [{name: PORT, value: "8000"}, {name: URL, value: "http://:$(PORT)/$(NONE)"}, {name: HOME, value: /root},
      {name: TOKEN, valueFrom: {secretKeyRef: {name: s, key: token}}}, {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]}]}}}`,
			want: v1alpha1.Server{
				Image: "r/web:1", Command: []string{"/web"}, Args: []string{"--port", "8000", "$(TOKEN)", "$(PORT)"}, WorkingDir: "/srv",
				Transport: "StreamableHTTP", Port: 8000, Env: env("PORT", "8000", "URL", "http://:8000/$(NONE)"),
				ImagePullSecrets: []v1alpha1.SecretReference{{Name: "a"}, {Name: "b"}},
			},
			omitted: []string{"the variables of Secret s", "the variables of ConfigMap m", "variable HOME (the sandbox has its own)",
				"variable TOKEN (from Secret s)", "variable NODE (from the Pod)", "the files at /etc/web"},
		},
		{
			name: "the container that the label names, and its annotations", source: "workload", object: `
kind: StatefulSet
metadata: {labels: {mcpaudit.dev/server: mcp}, annotations: {mcpaudit.dev/transport: sse, mcpaudit.dev/port: "9000", mcpaudit.dev/path: /events}}
spec: {template: {spec: {containers: [{name: proxy, image: p}, {name: mcp, image: m, ports: [{containerPort: 1}, {containerPort: 2}]}]}}}`,
			want: v1alpha1.Server{Image: "m", Transport: "SSE", Port: 9000, Path: "/events"},
		},
		{
			name: "the port that is called mcp", source: "workload", object: `
kind: DaemonSet
metadata: {labels: {mcpaudit.dev/server: "true"}, annotations: {mcpaudit.dev/transport: StreamableHTTP}}
spec: {template: {spec: {containers: [{name: m, image: m, ports: [{name: metrics, containerPort: 1}, {name: mcp, containerPort: 2}, {containerPort: 3, protocol: UDP}]}]}}}`,
			want: v1alpha1.Server{Image: "m", Transport: "StreamableHTTP", Port: 2},
		},
		{
			name: "stdio where there is no port", source: "workload", object: `
kind: Deployment
metadata: {labels: {mcpaudit.dev/server: "true"}}
spec: {template: {spec: {containers: [{name: m, image: m}]}}}`,
			want: v1alpha1.Server{Image: "m", Transport: "Stdio"},
		},
		{
			name: "the last of several variables of one name", source: "workload", object: `
kind: Deployment
metadata: {labels: {mcpaudit.dev/server: "true"}}
spec: {template: {spec: {containers: [{name: m, image: m, env: [{name: A, value: "1"}, {name: B, value: "$(A)"}, {name: A, value: "2"}]}]}}}`,
			want: v1alpha1.Server{Image: "m", Transport: "Stdio", Env: env("A", "2", "B", "1")},
		},
		{
			name: "ToolHive's stdio server, and not its proxy", source: "toolhive", object: `
kind: MCPServer
spec:
  image: r/fetch
  transport: stdio
  proxyMode: sse
  proxyPort: 8080
  args: [serve]
  env: [{name: A, value: "1"}]
  secrets: [{name: github, key: token, targetEnvName: GITHUB_TOKEN}, {name: github, key: KEY}]
  volumes: [{name: data, hostPath: /data, mountPath: /data}]
  podTemplateSpec: {spec: {imagePullSecrets: [{name: pull}], containers: [{name: other, env: [{name: X, value: x}]}, {name: mcp, args: [--verbose], env: [{name: B, value: "2"}]}]}}
  resourceOverrides: {proxyDeployment: {imagePullSecrets: [{name: all}]}}`,
			want: v1alpha1.Server{
				Image: "r/fetch", Transport: "Stdio", Args: []string{"--verbose", "serve"}, Env: env("B", "2", "A", "1", "MCP_TRANSPORT", "stdio"),
				ImagePullSecrets: []v1alpha1.SecretReference{{Name: "all"}, {Name: "pull"}},
			},
			omitted: []string{"variable GITHUB_TOKEN (from Secret github)", "variable KEY (from Secret github)", "the files at /data"},
		},
		{
			name: "ToolHive's server that listens, at its own port", source: "toolhive", object: `
kind: MCPServer
spec: {image: i, transport: streamable-http, proxyPort: 1234, mcpPort: 3000}`,
			want: v1alpha1.Server{Image: "i", Transport: "StreamableHTTP", Port: 3000,
				Env: env("MCP_TRANSPORT", "streamable-http", "MCP_PORT", "3000", "FASTMCP_PORT", "3000")},
		},
		{
			name: "ToolHive's default port", source: "toolhive", object: `{kind: MCPServer, spec: {image: i, transport: sse}}`,
			want: v1alpha1.Server{Image: "i", Transport: "SSE", Port: 8080, Env: env("MCP_TRANSPORT", "sse", "MCP_PORT", "8080", "FASTMCP_PORT", "8080")},
		},
		{
			name: "ToolHive's default transport", source: "toolhive", object: `{kind: MCPServer, spec: {image: i}}`,
			want: v1alpha1.Server{Image: "i", Transport: "Stdio", Env: env("MCP_TRANSPORT", "stdio")},
		},
		{
			name: "kmcp's command behind its adapter, word for word", source: "kmcp", object: `
kind: MCPServer
spec:
  transportType: stdio
  stdioTransport: {}
  deployment: {image: i, port: 3000, cmd: python, args: [server.py, $(A)], env: {B: "2", A: "1"}, secretRefs: [{name: s}, {name: ""}], configMapRefs: [{name: c}]}`,
			want:    v1alpha1.Server{Image: "i", Transport: "Stdio", Command: []string{"python"}, Args: []string{"server.py", "$(A)"}, Env: env("A", "1", "B", "2")},
			omitted: []string{"the variables of Secret s", "the files at /configmaps/c"},
		},
		{
			name: "kmcp's image for a package", source: "kmcp", object: `
kind: MCPServer
spec: {transportType: stdio, deployment: {cmd: npx, args: [-y, some-server]}}`,
			want: v1alpha1.Server{Image: "node:24-alpine3.21", Transport: "Stdio", Command: []string{"npx"}, Args: []string{"-y", "some-server"}},
		},
		{
			name: "kmcp's server that listens", source: "kmcp", object: `
kind: MCPServer
spec: {transportType: http, httpTransport: {targetPort: 8080, path: /m}, deployment: {image: i, port: 3000}}`,
			want: v1alpha1.Server{Image: "i", Transport: "StreamableHTTP", Port: 8080, Path: "/m"},
		},
		{
			name: "the server of the lifecycle operator", source: "lifecycle", object: `
kind: MCPServer
spec:
  source: {type: ContainerImage, containerImage: {ref: "quay.io/a/b:1", imagePullSecrets: [{name: p}]}}
  config: {port: 8081, path: /mcp, arguments: [--port, $(PORT)], env: [{name: PORT, value: "8081"}, {name: K, valueFrom: {configMapKeyRef: {name: c, key: k}}}],
    storage: [{path: /data, source: {type: EmptyDir}}, {path: /etc/m, source: {type: Secret}}]}`,
			want: v1alpha1.Server{Image: "quay.io/a/b:1", Transport: "StreamableHTTP", Port: 8081, Path: "/mcp", Args: []string{"--port", "8081"},
				Env: env("PORT", "8081"), ImagePullSecrets: []v1alpha1.SecretReference{{Name: "p"}}},
			omitted: []string{"variable K (from ConfigMap c)", "the files at /etc/m"},
		},
	} {
		t.Run(c.source+": "+c.name, func(t *testing.T) {
			got := readers[c.source](object(t, c.object))
			if diff := cmp.Diff(Reading{Server: c.want, Omitted: c.omitted}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhyAServerIsNotAudited(t *testing.T) {
	workload := func(label, annotations, containers string) string {
		return `{kind: Deployment, metadata: {labels: {mcpaudit.dev/server: "` + label + `"}, annotations: {` + annotations + `}}, spec: {template: {spec: {containers: [` + containers + `]}}}}`
	}
	long := ""
	for i := range 16 {
		long += fmt.Sprintf("{name: A%d, value: %s}, ", i, strings.Repeat("x", 4000))
	}
	for _, c := range []struct{ name, source, object, want string }{
		{"two containers", "workload", workload("true", "", "{name: a, image: a}, {name: b, image: b}"), "It has 2 containers: set the label mcpaudit.dev/server"},
		{"no container of that name", "workload", workload("c", "", "{name: a, image: a}"), `It has no container "c"`},
		{"no container", "workload", workload("true", "", ""), "It has 0 containers"},
		{"no image", "workload", workload("true", "", "{name: a}"), "It names no image."},
		{"many ports", "workload", workload("true", "", "{name: a, image: a, ports: [{containerPort: 1}, {containerPort: 2}]}"), "It has 2 ports"},
		{"no port", "workload", workload("true", "mcpaudit.dev/transport: sse", "{name: a, image: a}"), "annotation mcpaudit.dev/port"},
		{"a port that is none", "workload", workload("true", "mcpaudit.dev/port: http", "{name: a, image: a}"), "mcpaudit.dev/port is no port"},
		{"an unknown transport", "workload", workload("true", "mcpaudit.dev/transport: grpc", "{name: a, image: a}"), "mcpaudit.dev/transport is no transport"},
		{"a path that is none", "workload", workload("true", `mcpaudit.dev/path: "mcp"`, "{name: a, image: a, ports: [{containerPort: 1}]}"), "path of its endpoint"},
		{"a wrong type", "workload", workload("true", "", "{name: a, image: 7}"), "It cannot be read"},
		{"a long word", "workload", workload("true", "", "{name: a, image: a, args: ["+strings.Repeat("x", 1025)+"]}"), "longer than an audit takes"},
		{"many long variables", "workload", workload("true", "", "{name: a, image: a, env: ["+long+"]}"), "take more than 48 KiB"},
		{"many words", "workload", workload("true", "", "{name: a, image: a, args: ["+strings.Repeat("x, ", 33)+"]}"), "longer than an audit takes"},
		{"an image of two words", "toolhive", `{kind: MCPServer, spec: {image: "a b"}}`, "no image reference"},
		{"no image", "toolhive", `{kind: MCPServer, spec: {}}`, "It names no image."},
		{"no spec", "toolhive", `{kind: MCPServer}`, "It names no image."},
		{"a package", "toolhive", `{kind: MCPServer, spec: {image: "npx://x"}}`, "built by ToolHive"},
		{"an unknown transport", "toolhive", `{kind: MCPServer, spec: {image: i, transport: ws}}`, `transport "ws"`},
		{"no transport", "kmcp", `{kind: MCPServer, spec: {deployment: {image: i, cmd: c}}}`, `transportType ""`},
		{"no command", "kmcp", `{kind: MCPServer, spec: {transportType: stdio, deployment: {image: i}}}`, "no spec.deployment.cmd"},
		{"no image", "kmcp", `{kind: MCPServer, spec: {transportType: stdio, deployment: {cmd: python}}}`, "It names no image."},
		{"TLS", "kmcp", `{kind: MCPServer, spec: {transportType: http, httpTransport: {targetPort: 1, tls: {}}, deployment: {image: i}}}`, "speaks TLS"},
		{"no port", "kmcp", `{kind: MCPServer, spec: {transportType: http, deployment: {image: i}}}`, "port is 0"},
		{"somebody else's workload", "lifecycle", `{kind: MCPServer, spec: {workloadRef: {kind: Deployment, name: d}}}`, "It is run by Deployment d"},
		{"another source", "lifecycle", `{kind: MCPServer, spec: {source: {type: Git}}}`, `type "Git"`},
		{"TLS", "lifecycle", `{kind: MCPServer, spec: {transport: {tls: {enabled: true}}}}`, "speaks TLS"},
		{"a port that is none", "lifecycle", `{kind: MCPServer, spec: {source: {containerImage: {ref: i}}, config: {port: 70000}}}`, "port is 70000"},
	} {
		t.Run(c.source+": "+c.name, func(t *testing.T) {
			got := readers[c.source](object(t, c.object))
			if !strings.Contains(got.NotAuditable, c.want) || len(got.NotAuditable) > MaxNotAuditable {
				t.Errorf("notAuditable is %q, which does not contain %q", got.NotAuditable, c.want)
			}
			if diff := cmp.Diff(v1alpha1.Server{}, got.Server); diff != "" {
				t.Errorf("it has a server all the same: %s", diff)
			}
		})
	}
}

// A hostile object must cost neither the manager nor more memory than an audit has.
func TestExpandIsBounded(t *testing.T) {
	var list []string
	for range 32 {
		list = append(list, strings.Repeat("$(A)", 100_000))
	}
	got := recipe{image: "i", args: list, env: []EnvVar{{Name: "A", Value: strings.Repeat("x", maxEnvValue)}}}.reading()
	if !strings.Contains(got.NotAuditable, "longer than an audit takes") {
		t.Errorf("notAuditable is %q", got.NotAuditable)
	}
	got = recipe{image: "i", env: make([]EnvVar, 100_000)}.reading()
	if !strings.Contains(got.NotAuditable, "longer than an audit takes") {
		t.Errorf("notAuditable is %q", got.NotAuditable)
	}
	var notes []string
	for range 100 {
		notes = append(notes, strings.Repeat("<", 1<<16))
	}
	left := strings.Join(recipe{image: "i", omitted: notes}.reading().Omitted, "; ")
	if len(left) > 4096 || !strings.HasSuffix(left, "84 more") {
		t.Errorf("what is left out takes %d bytes and ends in %q", len(left), left[max(0, len(left)-20):])
	}
}

func FuzzSources(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `null`, `{"spec":null}`, `{"spec":{"image":{},"env":[null,{"name":7}]}}`, `{"metadata":{"labels":[],"annotations":"x"},"spec":[]}`,
		`{"metadata":{"labels":{"mcpaudit.dev/server":"true"}},"spec":{"template":{"spec":{"containers":[{"name":"a","image":"i","env":[{"name":"A","value":"$(A)$$$("}]}]}}}}`,
		`{"spec":{"image":"i","transport":"sse","mcpPort":1e9,"podTemplateSpec":{"spec":{"containers":[{"name":"mcp","command":["a"]}]}}}}`,
		`{"spec":{"transportType":"http","deployment":{"image":"i","port":-1,"env":{"":""}},"httpTransport":{"tls":{}}}}`,
		`{"spec":{"source":{"containerImage":{"ref":"i"}},"config":{"port":1,"path":"/#"}}}`,
		`{"spec":{"transportType":"http","deployment":{"image":"i","port":1,"env":{"":""}}}}`,
		`{"spec":{"transportType":"stdio","deployment":{"image":"i","cmd":"c","env":{"A":"$(B)","B":"b"},"secretRefs":[{"name":"s"}],"volumeMounts":[{"mountPath":"/a"}]}}}`,
		`{"spec":{"image":"i","env":[{"name":"A","value":"a"},{"name":"HOME","value":"/h"}],"podTemplateSpec":{"spec":{"containers":[{"name":"mcp","workingDir":"/w"}]}}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, encoded []byte) {
		var content map[string]any
		if json.Unmarshal(encoded, &content) != nil {
			return
		}
		content, _ = whole(content).(map[string]any)
		for name, read := range readers {
			got := read(&unstructured.Unstructured{Object: content})
			switch problem := check(got.Server, int64(got.Server.Port)); {
			case (got.NotAuditable == "") != (problem == ""):
				t.Errorf("%s: notAuditable is %q, and the server's problem %q", name, got.NotAuditable, problem)
			case len(got.NotAuditable) > 6*MaxNotAuditable || len(got.Omitted) > maxOmitted+1:
				t.Errorf("%s: unbounded: %d bytes, %d notes", name, len(got.NotAuditable), len(got.Omitted))
			}
		}
		compareWithDiscovery(t, encoded, content)
	})
}
