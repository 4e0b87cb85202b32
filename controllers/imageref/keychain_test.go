package imageref

import (
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
)

// TestAC3CredentialsOfAPattern: authors of audits name registries, and must not get credentials
// that a kubelet would not send there.
func TestAC3CredentialsOfAPattern(t *testing.T) {
	for _, c := range []struct {
		where, image string
		want         bool
	}{
		{"*.corp.example", "registry.corp.example/a", true},
		{"*.corp.example", "registry.tenant.corp.example/a", false},
		{"*.*.example", "registry.corp.example/a", true},
		{"*", "registry.corp.example/a", false},
		{"*", "registry:5000/a", false},
		{"*:5000", "registry:5000/a", true},
		{"registry-*.example", "registry-1.example/a", true},
		{"registry-*.example", "registry-1.evil.example/a", false},
		{"registry.example", "registry.example:5000/a", false},
		{"registry.example:5000", "registry.example:5000/a", true},
		{"*.example:5000", "registry.example:5000/a", true},
		{"*.example/team", "registry.example/team/a", true},
		{"*.example/team", "registry.example/teams/a", false},
		{"[", "registry.example/a", false},
		{"index.docker.io", "notes", true},
	} {
		repository, err := name.NewRepository(c.image)
		if err != nil {
			t.Fatal(err)
		}
		secret := entry{c.where, authn.AuthConfig{Username: "u", Password: "p"}}
		if got := secret.matches(repository); got != c.want {
			t.Errorf("%s for %s: %t", c.where, c.image, got)
		}
	}
}
