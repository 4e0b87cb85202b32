package imageref_test

import (
	"errors"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/controllers/imageref"
)

// TestS7AccessIsProvenEachTime: what one audit was let read is in the cache by its digest,
// and is not given to an audit without the credentials, by tag or by digest.
func TestS7AccessIsProvenEachTime(t *testing.T) {
	fake := newRegistry(t, "right")
	resolver := newResolver(t, fake.host)
	tag, err := name.NewTag(fake.host + "/private/notes:v1")
	if err != nil {
		t.Fatal(err)
	}
	secrets := []corev1.Secret{pullSecret(t, fake.host, "right")}
	image := newImage(t, "/notes")
	if err := remote.Push(tag, image, remote.WithAuth(&authn.Basic{Username: "user", Password: "right"})); err != nil {
		t.Fatal(err)
	}
	digest, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	for _, reference := range []string{tag.String(), tag.Context().Digest(digest.String()).String()} {
		if _, err := resolver.Resolve(t.Context(), reference, secrets); err != nil {
			t.Fatal(err)
		}
		if _, err := resolver.Resolve(t.Context(), reference, nil); !errors.Is(err, imageref.ErrUnauthorized) {
			t.Errorf("Resolve %s without credentials = %v, want ErrUnauthorized", reference, err)
		}
		if _, err := resolver.Digest(t.Context(), reference, nil); !errors.Is(err, imageref.ErrUnauthorized) {
			t.Errorf("Digest %s without credentials = %v, want ErrUnauthorized", reference, err)
		}
	}
}

// TestL10BadSecretsAreAlike: the error about a Secret that is no pull secret does not tell
// its type, nor whether there is one.
func TestL10BadSecretsAreAlike(t *testing.T) {
	want := imageref.BadSecret("x").Error()
	for name, secret := range map[string]corev1.Secret{
		"opaque":     {Type: corev1.SecretTypeOpaque},
		"a token":    {Type: corev1.SecretTypeServiceAccountToken},
		"no config":  {Type: corev1.SecretTypeDockerConfigJson},
		"no JSON":    {Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte("{")}},
		"no base 64": {Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":{"a":{"auth":"*"}}}`)}},
	} {
		secret.ObjectMeta = metav1.ObjectMeta{Name: "x"}
		if err := imageref.CheckSecret(secret); err == nil || err.Error() != want || !errors.Is(err, imageref.ErrBadSecret) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
