package source

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// servers are the groups of MCPServer, and how discovery reads them.
var servers = map[string]Reader{GroupToolHive: ToolHive, GroupKmcp: Kmcp, GroupLifecycle: Lifecycle}

func TestWhatIsComparedOfAServer(t *testing.T) {
	for _, c := range []struct {
		name, group, object string
		want                *Container
	}{
		{"a server that an audit cannot speak to", GroupToolHive, `{"spec":{"image":"r/a","transport":"ws","args":["b"]}}`, &Container{Image: "r/a", Args: []string{"b"}}},
		{"a server by TLS", GroupLifecycle, `{"spec":{"source":{"containerImage":{"ref":"r/a"}},"transport":{"tls":{"enabled":true}}}}`, &Container{Image: "r/a"}},
		{"a server without a port", GroupLifecycle, `{"spec":{"source":{"containerImage":{"ref":"r/a"}}}}`, &Container{Image: "r/a"}},
		{"a command that passes through no kubelet", GroupKmcp, `{"spec":{"transportType":"stdio","deployment":{"image":"r/a","cmd":"$$a","args":["$(A)"],"env":{"A":"b"}}}}`,
			&Container{Image: "r/a", Command: []string{"$$a"}, Args: []string{"$(A)"}}},
		{"a command that does", GroupKmcp, `{"spec":{"transportType":"http","deployment":{"image":"r/a","cmd":"$$a","args":["$(A)"],"env":{"A":"b"}}}}`,
			&Container{Image: "r/a", Command: []string{"$a"}, Args: []string{"b"}}},
		{"no image", GroupToolHive, `{}`, &Container{Unclear: "It names no image."}},
		{"no image, for a reason", GroupLifecycle, `{"spec":{"source":{"type":"Git"}}}`,
			&Container{Unclear: `Its source is of the type "Git": only ContainerImage can be audited.`}},
		{"an image that is built", GroupToolHive, `{"spec":{"image":"npx://a"}}`,
			&Container{Image: "npx://a", Unclear: "Its image npx://a is built by ToolHive when it is run: give it an image of its own."}},
		{"another object's server", GroupLifecycle, `{"spec":{"workloadRef":{"kind":"Deployment","name":"a"}}}`, nil},
		{"another object's server, with an image all the same", GroupLifecycle, `{"spec":{"workloadRef":{},"source":{"containerImage":{"ref":"r/a"}}}}`, &Container{Image: "r/a"}},
		{"another case of a name", GroupToolHive, `{"spec":{"image":"r/a","Image":"r/b"}}`, &Container{Image: "r/a"}},
		{"a kind that is not known", "example.com", `{"spec":{"image":"r/a"}}`, nil},
	} {
		t.Run(c.group+": "+c.name, func(t *testing.T) {
			got := Server(schema.GroupKind{Group: c.group, Kind: KindServer}, []byte(c.object))
			if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Container{}, "Env", "WorkingDir")); diff != "" {
				t.Error(diff)
			}
		})
	}
	for _, object := range []string{``, `[]`, `{"spec":7}`, `{"spec":{"image":"a","image":"b"}}`, `{"spec":{"image":{}}}`} {
		got := Server(schema.GroupKind{Group: GroupToolHive, Kind: KindServer}, []byte(object))
		if got == nil || !strings.HasPrefix(got.Unclear, "It cannot be read: ") || got.Image != "" {
			t.Errorf("%s is read as %+v", object, got)
		}
	}
}

func TestExpand(t *testing.T) {
	literal := func(name, value string) EnvVar { return EnvVar{Name: name, Value: value} }
	secret := EnvVar{Name: "S", ValueFrom: &ValueFrom{}}
	long := strings.Repeat("x", maxWord)
	var many []EnvVar
	for i := range maxVariables + 1 {
		many = append(many, literal(fmt.Sprintf("A%d", i), "b"))
	}
	for _, c := range []struct {
		name       string
		env        []EnvVar
		args, want []string // want is nil if it is not known
	}{
		{"nothing", many, []string{"a", "$", "(A)", "$A", ""}, []string{"a", "$", "(A)", "$A", ""}},
		{"a value", []EnvVar{literal("A", "b")}, []string{"--a=$(A)"}, []string{"--a=b"}},
		{"an empty one", []EnvVar{literal("A", "")}, []string{"$(A)"}, []string{""}},
		{"a value of another", []EnvVar{literal("A", "b"), literal("B", "$(A)c")}, []string{"$(B)"}, []string{"bc"}},
		{"one that comes later", []EnvVar{literal("B", "$(A)c"), literal("A", "b")}, []string{"$(B)"}, []string{"$(A)c"}},
		{"what is not in the object", []EnvVar{secret}, []string{"$(S)", "$(NONE)"}, []string{"$(S)", "$(NONE)"}},
		{"the last of a name", []EnvVar{literal("S", "a"), secret}, []string{"$(S)"}, []string{"$(S)"}},
		{"a dollar", nil, []string{"$$(A)", "$$$$"}, []string{"$(A)", "$$"}},
		{"what an audit has of its own", []EnvVar{literal("HOME", "/root")}, []string{"$(HOME)"}, []string{"$(HOME)"}},
		{"more variables than are looked at", many, []string{"$(A0)", "$$"}, []string{"$(A0)", "$"}},
		{"a word that grows too long", []EnvVar{literal("A", long)}, []string{"$(A)", "$(A)x"}, nil},
		{"a word that is too long", nil, []string{"$$" + long}, nil},
		{"one that needs no expanding", nil, []string{"$" + long}, []string{"$" + long}},
		{"more words than an audit has", []EnvVar{literal("A", "b")}, slices.Repeat([]string{"$(A)"}, maxWords+1), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			command, args, ok := Expand(c.env, c.args, c.args)
			if ok != (c.want != nil) {
				t.Fatalf("the result is known: %t", ok)
			}
			if diff := cmp.Diff([][]string{c.want, c.want}, [][]string{command, args}); ok && diff != "" {
				t.Error(diff)
			}
		})
	}
}

// compareWithDiscovery: an audit is compared with what it would run now.
func compareWithDiscovery(t *testing.T, encoded []byte, object map[string]any) {
	t.Helper()
	for group, read := range servers {
		reading := read(&unstructured.Unstructured{Object: object})
		if reading.NotAuditable != "" {
			continue
		}
		// As the API server would write it.
		canonical, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		want := &Container{
			Image: reading.Server.Image, Command: reading.Server.Command, Args: reading.Server.Args,
			WorkingDir: reading.Server.WorkingDir,
		}
		got := Server(schema.GroupKind{Group: group, Kind: KindServer}, canonical)
		if strings.Contains(want.Image, "://") {
			want.Unclear = noImage
		}
		// Env and Additions are as the object has them: discovery resolves the one and leaves out the other.
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Container{}, "Env", "Additions")); diff != "" {
			t.Errorf("%s: %s\n%s", group, diff, encoded)
		}
		values, ok := Literals(got.Env)
		if diff := cmp.Diff(namedValues(reading.Server.Env), values, cmpopts.EquateEmpty()); ok && diff != "" {
			t.Errorf("%s: the variables differ: %s\n%s", group, diff, encoded)
		}
	}
}

func namedValues(variables []v1alpha1.EnvVar) map[string]string {
	values := map[string]string{}
	for _, variable := range variables {
		values[variable.Name] = variable.Value
	}
	return values
}

// TestR5ValuesThatNoAuditHas: what an audit cannot have is not left out of a comparison, or
// a variable would pass unseen beside those that were audited.
func TestR5ValuesThatNoAuditHas(t *testing.T) {
	from, audited := &ValueFrom{ConfigMapKeyRef: &Named{"a"}}, EnvVar{Name: "MODE", Value: "safe"}
	for name, test := range map[string]struct {
		env []EnvVar
		ok  bool
	}{
		"the same":                                {[]EnvVar{audited}, true},
		"HOME, of which an audit has its own":     {[]EnvVar{audited, {Name: "HOME", Value: "/a"}}, true},
		"a value from elsewhere":                  {[]EnvVar{audited, {Name: "A", ValueFrom: from}}, true},
		"a value that replaces one":               {[]EnvVar{audited, {Name: "A", ValueFrom: from}, {Name: "A", Value: "b"}}, true},
		"a value that is longer than an audit's":  {[]EnvVar{audited, {Name: "NODE_OPTIONS", Value: "--import=data:," + strings.Repeat("x", maxEnvValue)}}, false},
		"a name that no audit has":                {[]EnvVar{audited, {Name: "NODE OPTIONS", Value: "a"}}, false},
		"a value under one that may not be there": {[]EnvVar{audited, {Name: "A", Value: "b"}, {Name: "A", ValueFrom: from}}, false},
	} {
		if values, ok := Literals(test.env); ok != test.ok || ok && values["MODE"] != "safe" {
			t.Errorf("%s: %v, %t", name, values, ok)
		}
	}
}
