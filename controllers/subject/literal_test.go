package subject

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// TestX4WordsThatAKubeletExpands: an audit has half as many words in its command, and the same
// words in all; it runs them as they are.
func TestX4WordsThatAKubeletExpands(t *testing.T) {
	words := append([]string{"sh", "-c", "echo $$"}, slices.Repeat([]string{"word"}, 40)...)
	got := containersOf(t, corev1.Container{Name: "server", Image: "registry.example/notes", Command: words})[0]
	if slices.Equal(got.Command, words) || v1alpha1.CommandDigest(got.Command, nil) == v1alpha1.CommandDigest(words, nil) {
		t.Errorf("%q is taken for what runs", got.Command[:3])
	}
	if want := "echo $"; got.Command[2] != want {
		t.Errorf("the command is %q, want %q", got.Command[2], want)
	}
}

// TestAC1CommandLinesTooLongToExpand: an image's own command line may be longer than that of an
// audit's spec. The audit runs it as it is, and a kubelet expands the same words in an object.
func TestAC1CommandLinesTooLongToExpand(t *testing.T) {
	script := "[ $$ = '$' ] && evil; exec /notes #" + strings.Repeat("x", 1100)
	for name, c := range map[string]corev1.Container{
		"a long word": {Command: []string{"sh", "-c", script}},
		"many words":  {Command: append([]string{"sh", "-c", "echo $$"}, slices.Repeat([]string{"word"}, 100)...)},
		"arguments":   {Args: []string{script}},
	} {
		c.Name, c.Image = "server", "registry.example/notes"
		for _, got := range containersOf(t, c) {
			if got.Unclear == "" {
				t.Errorf("%s: %q is taken for what runs", name, slices.Concat(got.Command, got.Args)[:1])
			}
		}
	}
	long := corev1.Container{Name: "server", Image: "registry.example/notes", Command: []string{"sh", "-c", strings.ReplaceAll(script, "$$", "$PPID")}}
	for _, got := range containersOf(t, long) {
		if got.Unclear != "" {
			t.Errorf("what no kubelet expands is not compared: %s", got.Unclear)
		}
	}
}

// TestX5BytesThatAreNotText: the API server stores them from a client that writes Protobuf, and the
// gate is asked in JSON, where all of them are one character.
func TestX5BytesThatAreNotText(t *testing.T) {
	for name, test := range map[string]struct {
		container corev1.Container
		clear     bool
	}{
		"text":              {corev1.Container{Args: []string{"größe"}, WorkingDir: "/größe", Env: []corev1.EnvVar{{Name: "A", Value: "ü"}}}, true},
		"arguments":         {corev1.Container{Args: []string{"\xff"}}, false},
		"a command":         {corev1.Container{Command: []string{"a", "b\xc3"}}, false},
		"a directory":       {corev1.Container{WorkingDir: "/\xff"}, false},
		"a variable":        {corev1.Container{Env: []corev1.EnvVar{{Name: "A", Value: "\xff"}}}, false},
		"the character":     {corev1.Container{Args: []string{"\uFFFD"}}, false},
		"a mounted surplus": {corev1.Container{VolumeMounts: []corev1.VolumeMount{{MountPath: "/data"}}}, true},
	} {
		test.container.Name, test.container.Image = "server", "registry.example/notes"
		for _, got := range containersOf(t, test.container) {
			if (got.Unclear == "") != test.clear {
				t.Errorf("%s: %q", name, got.Unclear)
			}
		}
	}
}

// containersOf reads a container of a stored Pod as the webhook and the drift controller do.
func containersOf(t *testing.T, c corev1.Container) []gate.Container {
	t.Helper()
	encoded, err := (&corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{c}}}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	var stored corev1.Pod
	if err := stored.Unmarshal(encoded); err != nil {
		t.Fatal(err)
	}
	object, err := json.Marshal(&stored)
	if err != nil {
		t.Fatal(err)
	}
	asked, err := Read(object, schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, "")
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(asked.Containers, FromPod(&stored).Containers)
}
