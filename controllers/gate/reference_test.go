package gate_test

import (
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

func TestReference(t *testing.T) {
	hex := strings.Repeat("0a", 32)
	id := v1alpha1.Digest("sha256:" + hex)
	for _, test := range []struct {
		image, full string
		digest      v1alpha1.Digest
	}{
		{"notes", "docker.io/library/notes:latest", ""},
		{"notes:1", "docker.io/library/notes:1", ""},
		{"team/notes", "docker.io/team/notes:latest", ""},
		{"index.docker.io/team/notes", "docker.io/team/notes:latest", ""},
		{"registry.example/notes:1", "registry.example/notes:1", ""},
		{"REGISTRY.Example/notes:V1", "registry.example/notes:V1", ""},
		{"LocalHost/notes", "localhost/notes:latest", ""},
		{"Host/notes", "Host/notes:latest", ""}, // a registry, unlike host/notes
		{"localhost:5000/a/b/c", "localhost:5000/a/b/c:latest", ""},
		{"notes@" + string(id), "docker.io/library/notes@" + string(id), id},
		{"notes:1@" + string(id), "docker.io/library/notes:1@" + string(id), id},
		{string(id), string(id), id}, // the id of an image that a node has
	} {
		full, digest, err := gate.Reference(test.image)
		if err != nil || full != test.full || digest != test.digest {
			t.Errorf("Reference(%q) = %q, %q, %v; want %q, %q", test.image, full, digest, err, test.full, test.digest)
		}
	}
	for _, image := range []string{
		strings.Repeat("a/", 700_000) + "a", // R10: to read it takes a second
		"", " ", "Notes", "notes:", "notes@sha256:12", "a b", "https://registry.example/notes", hex,
		"sha256:" + hex[:12], "sha256:" + strings.ToUpper(hex), "sha256:", "-x/y", "x//y", "x/y\n",
	} {
		if full, digest, err := gate.Reference(image); err == nil || full != "" || digest != "" {
			t.Errorf("Reference(%q) = %q, %q, %v; want an error", image, full, digest, err)
		}
	}
}

// FuzzReference holds that the full form of an image is its own full form, and names the
// same digest: what is looked up is what was kept.
func FuzzReference(f *testing.F) {
	for _, seed := range []string{"notes", "a.b/c:1", "sha256:" + strings.Repeat("0", 64), "x@sha256:" + strings.Repeat("f", 64), "A:5/b:c@sha256:00", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, image string) {
		full, digest, err := gate.Reference(image)
		if err != nil {
			return
		}
		again, same, err := gate.Reference(full)
		if err != nil || again != full || same != digest {
			t.Errorf("%q is %q, %q, and that is %q, %q, %v", image, full, digest, again, same, err)
		}
	})
}
