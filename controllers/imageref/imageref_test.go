package imageref_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/controllers/imageref"
)

// fakeRegistry is a registry on the loopback that counts requests and can be
// told to refuse them.
type fakeRegistry struct {
	host     string
	requests atomic.Int64
	status   atomic.Int64 // 0: serve
	password string       // empty: open to all
}

func newRegistry(t *testing.T, password string) *fakeRegistry {
	t.Helper()
	fake := &fakeRegistry{password: password}
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fake.requests.Add(1)
		if status := fake.status.Load(); status != 0 {
			w.WriteHeader(int(status))
			return
		}
		if _, got, _ := r.BasicAuth(); got != fake.password {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	fake.host = strings.TrimPrefix(server.URL, "http://")
	return fake
}

// newResolver makes a resolver for registries on the loopback that the operator lists.
func newResolver(t *testing.T, hosts ...string) *imageref.Resolver {
	t.Helper()
	return newResolverFor(t, 5*time.Second, hosts...)
}

func newResolverFor(t *testing.T, timeout time.Duration, hosts ...string) *imageref.Resolver {
	t.Helper()
	resolver, err := imageref.New(imageref.Config{Platform: "linux/amd64", Timeout: timeout, Registries: imageref.Registries{PlainHTTP: hosts}})
	if err != nil {
		t.Fatal(err)
	}
	return resolver
}

func newImage(t *testing.T, entrypoint string) v1.Image {
	t.Helper()
	image, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{
		OS: "linux", Architecture: "amd64",
		Config: v1.Config{Entrypoint: []string{entrypoint}, Cmd: []string{"--stdio"}, User: "1000"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func push(t *testing.T, reference string, image remote.Taggable) {
	t.Helper()
	tag, err := name.NewTag(reference)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Push(tag, image); err != nil {
		t.Fatal(err)
	}
}

func TestResolve(t *testing.T) {
	fake := newRegistry(t, "")
	resolver := newResolver(t, fake.host)
	reference := fake.host + "/team/notes:v1"
	first := newImage(t, "/first")
	push(t, reference, first)
	digest, _ := first.Digest()
	config, _ := first.ConfigName()

	got, err := resolver.Resolve(t.Context(), reference, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := imageref.Image{
		Reference: fake.host + "/team/notes@" + digest.String(), Digest: digest.String(),
		Manifest: digest.String(), ID: config.String(),
		Entrypoint: []string{"/first"}, Cmd: []string{"--stdio"}, User: "1000", Platform: "linux/amd64", Size: 174,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	t.Run("remembers what is behind a digest", func(t *testing.T) {
		before := fake.requests.Load()
		if _, err := resolver.Resolve(t.Context(), reference, nil); err != nil {
			t.Fatal(err)
		}
		if n := fake.requests.Load() - before; n > 2 { // the ping and one HEAD
			t.Errorf("%d requests for an image that was known", n)
		}
	})
	t.Run("sees a tag move", func(t *testing.T) {
		push(t, reference, newImage(t, "/second"))
		moved, err := resolver.Resolve(t.Context(), reference, nil)
		if err != nil {
			t.Fatal(err)
		}
		if moved.Digest == got.Digest || moved.Entrypoint[0] != "/second" {
			t.Errorf("still %s with %v", moved.Digest, moved.Entrypoint)
		}
	})
	t.Run("stays with a digest", func(t *testing.T) {
		pinned, err := resolver.Resolve(t.Context(), got.Reference, nil)
		if err != nil || pinned.Digest != got.Digest {
			t.Errorf("Resolve = %s, %v; want %s", pinned.Digest, err, got.Digest)
		}
	})
}

func TestResolveIndex(t *testing.T) {
	fake := newRegistry(t, "")
	resolver := newResolver(t, fake.host)
	child := newImage(t, "/amd64")
	index := mutate.AppendManifests(empty.Index, mutate.IndexAddendum{
		Add: child, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "amd64"}},
	})
	push(t, fake.host+"/multi:v1", index)
	got, err := resolver.Resolve(t.Context(), fake.host+"/multi:v1", nil)
	if err != nil {
		t.Fatal(err)
	}
	indexDigest, _ := index.Digest()
	childDigest, _ := child.Digest()
	config, _ := child.ConfigName()
	want := imageref.Image{
		Reference: fake.host + "/multi@" + childDigest.String(), Digest: indexDigest.String(), Manifest: childDigest.String(), ID: config.String(),
		Entrypoint: []string{"/amd64"}, Cmd: []string{"--stdio"}, User: "1000", Platform: "linux/amd64", Size: 174,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.Entrypoint[0] != "/amd64" {
		t.Errorf("entrypoint %v", got.Entrypoint)
	}
}

func TestResolveErrors(t *testing.T) {
	fake := newRegistry(t, "")
	for _, test := range []struct {
		name, image string
		status      int
		want        error
	}{
		{"no such tag", fake.host + "/none:v1", 0, imageref.ErrNotFound},
		{"no reference", "UPPER/case", 0, imageref.ErrInvalid},
		{"the id of an image", "sha256:" + strings.Repeat("a", 64), 0, imageref.ErrNotFound},
		{"the id of an image, cut", "sha256:abc", 0, imageref.ErrNotFound},
		{"forbidden", fake.host + "/a:v1", http.StatusForbidden, imageref.ErrUnauthorized},
		{"out of order", fake.host + "/a:v1", http.StatusInternalServerError, imageref.ErrUnreachable},
		{"too many requests", fake.host + "/a:v1", http.StatusTooManyRequests, imageref.ErrUnreachable},
		{"nobody there", "127.0.0.1:1/a:v1", 0, imageref.ErrUnreachable},
	} {
		t.Run(test.name, func(t *testing.T) {
			fake.status.Store(int64(test.status))
			defer fake.status.Store(0)
			if _, err := newResolver(t, fake.host, "127.0.0.1:1").Resolve(t.Context(), test.image, nil); !errors.Is(err, test.want) {
				t.Errorf("Resolve = %v, want %v", err, test.want)
			}
		})
	}
}

func TestResolveGivesUp(t *testing.T) {
	blocked := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-blocked }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(blocked) })
	host := strings.TrimPrefix(server.URL, "http://")
	_, err := newResolverFor(t, time.Millisecond, host).Resolve(t.Context(), host+"/a:v1", nil)
	if !errors.Is(err, imageref.ErrUnreachable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Resolve = %v, want ErrUnreachable for the deadline", err)
	}
}

func pullSecret(t *testing.T, server, password string) corev1.Secret {
	t.Helper()
	config, err := json.Marshal(map[string]any{"auths": map[string]any{
		server: map[string]string{"username": "user", "password": password},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "pull"}, Type: corev1.SecretTypeDockerConfigJson,
		Data: map[string][]byte{corev1.DockerConfigJsonKey: config},
	}
}

func TestResolveWithPullSecrets(t *testing.T) {
	fake := newRegistry(t, "right")
	image := fake.host + "/private/notes:v1"
	for _, test := range []struct {
		name    string
		secrets []corev1.Secret
		want    error // the registry is empty: with access, NotFound
	}{
		{"none", nil, imageref.ErrUnauthorized},
		{"the right one", []corev1.Secret{pullSecret(t, fake.host, "right")}, imageref.ErrNotFound},
		{"with a scheme", []corev1.Secret{pullSecret(t, "http://"+fake.host+"/v1/", "right")}, imageref.ErrNotFound},
		{"for the repository", []corev1.Secret{pullSecret(t, fake.host, "wrong"), pullSecret(t, fake.host+"/private", "right")}, imageref.ErrNotFound},
		{"for another repository", []corev1.Secret{pullSecret(t, fake.host+"/priv", "right")}, imageref.ErrUnauthorized},
		{"for another registry", []corev1.Secret{pullSecret(t, "registry.example", "right")}, imageref.ErrUnauthorized},
		{"the wrong password", []corev1.Secret{pullSecret(t, fake.host, "wrong")}, imageref.ErrUnauthorized},
		{"of another type", []corev1.Secret{{Type: corev1.SecretTypeOpaque}}, imageref.ErrBadSecret},
		{"that is damaged", []corev1.Secret{{Type: corev1.SecretTypeDockerConfigJson}}, imageref.ErrBadSecret},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := newResolver(t, fake.host).Resolve(t.Context(), image, test.secrets); !errors.Is(err, test.want) {
				t.Errorf("Resolve = %v, want %v", err, test.want)
			}
		})
	}
}

func FuzzPullSecret(f *testing.F) {
	resolver, err := imageref.New(imageref.Config{Platform: "linux/amd64", Timeout: time.Second, Registries: imageref.Registries{PlainHTTP: []string{"127.0.0.1:1"}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"auths":{"https://index.docker.io/v1/":{"auth":"YTpi"}}}`))
	f.Add([]byte(`{"auths":{"[":{"auth":"YQ"}}}`))
	f.Fuzz(func(t *testing.T, config []byte) {
		secret := corev1.Secret{Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: config}}
		// Port 1 of the loopback refuses at once; nothing may panic.
		if _, err := resolver.Resolve(t.Context(), "127.0.0.1:1/a", []corev1.Secret{secret}); err == nil {
			t.Error("an unreachable registry was reached")
		}
	})
}
