package subject

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

func TestChanged(t *testing.T) {
	run := func(change ...func(*gate.Container)) gate.Container {
		c := gate.Container{Name: "server", Role: gate.RoleContainer, Image: "r/notes:1", Command: []string{"/notes"}, Args: []string{"--stdio"}}
		for _, of := range change {
			of(&c)
		}
		return c
	}
	mounted := gate.Container{Name: "server", Role: gate.RoleImageVolume, Image: "r/notes:1"}
	bare := gate.Container{Name: "server", Role: gate.RoleContainer, Image: "r/notes:1"}
	unreadable := gate.Container{Name: "server", Role: gate.RoleServer, Unclear: "It cannot be read."}
	built := gate.Container{Name: "server", Role: gate.RoleServer, Image: "uvx://a", Unclear: "It is built."}
	for _, c := range []struct {
		name     string
		old, new []gate.Container
		changed  bool // the first of new
	}{
		{"nothing", []gate.Container{run()}, []gate.Container{run()}, false},
		{"the object is new", nil, []gate.Container{run()}, true},
		{"all containers are gone", []gate.Container{run()}, nil, false},
		{"the image", []gate.Container{run()}, []gate.Container{run(func(c *gate.Container) { c.Image = "r/notes:2" })}, true},
		{"the command", []gate.Container{run()}, []gate.Container{run(func(c *gate.Container) { c.Command = nil })}, true},
		{"the args", []gate.Container{run()}, []gate.Container{run(func(c *gate.Container) { c.Args = []string{"--stdio", ""} })}, true},
		{"a word that moves from the command to the args", []gate.Container{run()},
			[]gate.Container{run(func(c *gate.Container) { c.Command, c.Args = nil, []string{"/notes", "--stdio"} })}, true},
		{"no args, written in another way", []gate.Container{run(func(c *gate.Container) { c.Args = nil })},
			[]gate.Container{run(func(c *gate.Container) { c.Args = []string{} })}, false},
		{"S2: a variable", []gate.Container{run()}, []gate.Container{run(func(c *gate.Container) { c.Environment.Variables = map[string]string{"A": "1"} })}, true},
		{"S2: the working directory", []gate.Container{run()}, []gate.Container{run(func(c *gate.Container) { c.Environment.WorkingDir = "/x" })}, true},
		{"S16: a variable from elsewhere", []gate.Container{run()}, []gate.Container{run(func(c *gate.Container) { c.Environment.Unread = []string{"A"} })}, true},
		{"S16: an envFrom", []gate.Container{run()}, []gate.Container{run(func(c *gate.Container) { c.Environment.From = true })}, true},
		{"S16: a mount", []gate.Container{run()}, []gate.Container{run(func(c *gate.Container) { c.Additions.Mounts = []string{"/app"} })}, true},
		{"S16: a hook", []gate.Container{run()}, []gate.Container{run(func(c *gate.Container) { c.Additions.Commands = []string{"lifecycle.preStop.exec"} })}, true},
		{"the name", []gate.Container{run()}, []gate.Container{run(func(c *gate.Container) { c.Name = "other" })}, false},
		{"an init container becomes a container", []gate.Container{run(func(c *gate.Container) { c.Role = gate.RoleInitContainer })}, []gate.Container{run()}, false},
		{"a container becomes an ephemeral one", []gate.Container{run()}, []gate.Container{run(func(c *gate.Container) { c.Role = gate.RoleEphemeralContainer })}, false},
		{"a mounted image is run", []gate.Container{mounted}, []gate.Container{bare}, true},
		{"an image that runs is mounted", []gate.Container{bare}, []gate.Container{mounted}, true},
		{"a mounted image stays", []gate.Container{mounted}, []gate.Container{mounted}, false},
		{"another container of the same", []gate.Container{run()}, []gate.Container{run(), run()}, false},
		{"the order", []gate.Container{bare, run()}, []gate.Container{run(), bare}, false},
		{"what could not be read before", []gate.Container{unreadable}, []gate.Container{unreadable}, true},
		{"AC2: bytes that look alike", []gate.Container{run(func(c *gate.Container) { c.Unclear = noText })}, []gate.Container{run(func(c *gate.Container) { c.Unclear = noText })}, true},
		{"what is built of the same", []gate.Container{built}, []gate.Container{built}, false},
		{"what is built of another", []gate.Container{built}, []gate.Container{{Image: "uvx://b", Role: gate.RoleServer, Unclear: built.Unclear}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := append([]gate.Container(nil), c.new...)
			got := Changed(gate.Subject{Containers: c.old}, gate.Subject{Name: "notes", Labels: map[string]string{"a": "b"}, Containers: c.new})
			if (len(got.Containers) > 0) != c.changed || got.Name != "notes" || got.Labels["a"] != "b" {
				t.Errorf("got %+v", got)
			}
			if diff := cmp.Diff(before, c.new); diff != "" {
				t.Errorf("it changed what it was given: %s", diff)
			}
		})
	}
}

// What scales or labels an object, or has it stay on a node that is not ready, brings in nothing.
func TestAnUpdateOfTheRest(t *testing.T) {
	old, err := readYAML(t, []byte(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 3, template: {spec: {containers: [{name: a, image: r/a}]}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	new, err := readYAML(t, []byte(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, labels: {gate: me}}, spec: {replicas: 0, paused: true,
  template: {metadata: {labels: {a: b}}, spec: {tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists}], containers: [{name: a, image: r/a, resources: {limits: {cpu: 1}}}]}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := Changed(old, new).Containers; len(got) > 0 {
		t.Errorf("changed are %+v", got)
	}
}

// A name that is one image on amd64 is another on arm64, and one more on Windows.
func TestAnUpdateOfThePlatform(t *testing.T) {
	read := func(where string) gate.Subject {
		subject, err := readYAML(t, []byte(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {`+where+`, containers: [{name: a, image: r/a}]}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		return subject
	}
	old := read(`nodeSelector: {kubernetes.io/arch: amd64, kubernetes.io/os: linux}`)
	for _, where := range []string{`nodeSelector: {kubernetes.io/arch: arm64, kubernetes.io/os: linux}`, `nodeSelector: {kubernetes.io/arch: amd64}`, `nodeSelector: {kubernetes.io/arch: amd64}, os: {name: windows}`} {
		if got := Changed(old, read(where)).Containers; len(got) != 1 {
			t.Errorf("%s: changed are %+v", where, got)
		}
	}
	if got := Changed(old, read(`nodeSelector: {kubernetes.io/arch: amd64}, os: {name: linux}`)).Containers; len(got) != 0 {
		t.Errorf("the same in other words: changed are %+v", got)
	}
	if got := Changed(read(`hostNetwork: false`), read(`nodeSelector: {pool: arm}`)).Containers; len(got) != 1 {
		t.Errorf("to nodes by a label: changed are %+v", got)
	}
}

// Nodes by any label but their OS, and nodes with taints of their own, may be added with any
// architecture.
func TestNodesByLabel(t *testing.T) {
	affinity := func(expressions ...string) string {
		return `{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [` + strings.Join(expressions, `]}, {matchExpressions: [`) + `]}]}}}`
	}
	const amd, arm = `{key: kubernetes.io/arch, operator: In, values: [amd64]}`, `{key: kubernetes.io/arch, operator: In, values: [arm64]}`
	for spec, want := range map[string]bool{
		`hostNetwork: true`:                                                                              false,
		`nodeSelector: {kubernetes.io/os: linux}`:                                                        false,
		`nodeSelector: {pool: a}`:                                                                        true,
		`nodeSelector: {pool: a, kubernetes.io/arch: amd64}`:                                             false,
		`nodeSelector: {beta.kubernetes.io/arch: arm64}`:                                                 true,
		`tolerations: [{key: pool, operator: Exists}]`:                                                   true,
		`tolerations: [{operator: Exists}]`:                                                              true,
		`tolerations: [{key: node.kubernetes.io/not-ready}]`:                                             false,
		`runtimeClassName: gvisor`:                                                                       true,
		`runtimeClassName: gvisor, nodeSelector: {kubernetes.io/arch: amd64}`:                            false,
		`affinity: ` + affinity(amd):                                                                     false,
		`affinity: ` + affinity(amd, arm):                                                                true,
		`affinity: ` + affinity(`{key: kubernetes.io/arch, operator: NotIn, values: [amd64]}`):           true,
		`affinity: ` + affinity(`{key: kubernetes.io/os, operator: In, values: [linux]}`):                false,
		`affinity: ` + affinity(amd+`, {key: pool, operator: Exists}`):                                   false,
		`nodeSelector: {kubernetes.io/arch: amd64}, affinity: ` + affinity(`{key: a, operator: Exists}`): false,
	} {
		subject, err := readYAML(t, []byte(`{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {`+spec+`, containers: [{name: a, image: r/a}]}}`))
		if err != nil {
			t.Fatal(err)
		}
		if subject.NodesByLabel != want {
			t.Errorf("%s: nodes by label: %t, want %t", spec, subject.NodesByLabel, want)
		}
	}
	kmcp, err := readYAML(t, []byte(`{apiVersion: kagent.dev/v1alpha1, kind: MCPServer, metadata: {name: a}, spec: {deployment: {image: r/a, tolerations: [{key: pool}]}}}`))
	if err != nil || !kmcp.NodesByLabel {
		t.Errorf("kmcp: nodes by label: %t, %v", kmcp.NodesByLabel, err)
	}
}
