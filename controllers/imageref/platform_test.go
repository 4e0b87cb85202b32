package imageref_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"github.com/mcpaudit/mcpaudit/controllers/imageref"
)

// built is an image for a platform whose entrypoint says which.
func built(t *testing.T, platform string) v1.Image {
	t.Helper()
	p, err := v1.ParsePlatform(platform)
	if err != nil {
		t.Fatal(err)
	}
	image, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{
		OS: p.OS, Architecture: p.Architecture, Variant: p.Variant, Config: v1.Config{Entrypoint: []string{platform}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// indexOf lists images for platforms, as builders do.
func indexOf(t *testing.T, platforms ...string) v1.ImageIndex {
	t.Helper()
	index := v1.ImageIndex(empty.Index)
	for _, platform := range platforms {
		p, err := v1.ParsePlatform(platform)
		if err != nil {
			t.Fatal(err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: built(t, platform), Descriptor: v1.Descriptor{Platform: p}})
	}
	return index
}

func TestResolvePlatforms(t *testing.T) {
	fake := newRegistry(t, "")
	for _, test := range []struct {
		name, wanted string
		platforms    []string // of an index; one with "!" is no index
		want         string   // the entrypoint, and by it the platform; empty: ErrNotFound
	}{
		{"both, on amd64", "linux/amd64", []string{"linux/arm64", "linux/amd64"}, "linux/amd64"},
		{"both, on arm64", "linux/arm64", []string{"linux/amd64", "linux/arm64/v8"}, "linux/arm64/v8"},
		{"a variant that is wanted", "linux/arm64/v8", []string{"linux/amd64", "linux/arm64"}, "linux/arm64"},
		{"only arm64, on amd64", "linux/amd64", []string{"linux/arm64"}, "linux/arm64"},
		{"only amd64, on arm64", "linux/arm64", []string{"linux/amd64"}, "linux/amd64"},
		{"neither", "linux/amd64", []string{"linux/s390x", "linux/ppc64le"}, "linux/s390x"},
		{"what nodes are most", "linux/s390x", []string{"linux/ppc64le", "linux/arm64"}, "linux/arm64"},
		{"with an attestation", "linux/amd64", []string{"unknown/unknown", "linux/arm64"}, "linux/arm64"},
		{"with another system", "linux/amd64", []string{"windows/amd64", "linux/arm64"}, "linux/arm64"},
		{"another system", "linux/amd64", []string{"windows/amd64"}, ""},
		{"an attestation alone", "linux/amd64", []string{"unknown/unknown"}, ""},
		{"nothing", "linux/amd64", nil, ""},
		{"one manifest", "linux/amd64", []string{"!linux/amd64"}, "linux/amd64"},
		{"one manifest, elsewhere", "linux/amd64", []string{"!linux/arm64"}, "linux/arm64"},
		{"one manifest of another system", "linux/amd64", []string{"!windows/amd64"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			reference := fake.host + "/" + strings.NewReplacer(" ", "-", ",", "").Replace(test.name) + ":v1"
			if len(test.platforms) == 1 && strings.HasPrefix(test.platforms[0], "!") {
				push(t, reference, built(t, test.platforms[0][1:]))
			} else {
				push(t, reference, indexOf(t, test.platforms...))
			}
			resolver, err := imageref.New(imageref.Config{Platform: test.wanted, Timeout: time.Minute, Registries: imageref.Registries{PlainHTTP: []string{fake.host}}})
			if err != nil {
				t.Fatal(err)
			}
			got, err := resolver.Resolve(t.Context(), reference, nil)
			if test.want == "" {
				if !errors.Is(err, imageref.ErrNotFound) || !strings.Contains(err.Error(), "not for linux") {
					t.Errorf("Resolve = %+v, %v, want ErrNotFound", got, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			platform := strings.Join(strings.Split(test.want, "/")[:2], "/")
			if got.Entrypoint[0] != test.want || got.Platform != platform {
				t.Errorf("the entrypoint is that of %s, the platform %q", got.Entrypoint, got.Platform)
			}
			things := slices.DeleteFunc(slices.Clone(test.platforms), func(p string) bool { return p == "unknown/unknown" })
			if got.Several != (len(things) > 1) {
				t.Errorf("several is %t", got.Several)
			}
		})
	}
}

// TestResolveWithoutPlatform: an image from before there were any.
func TestResolveWithoutPlatform(t *testing.T) {
	fake := newRegistry(t, "")
	resolver := newResolver(t, fake.host)
	image, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{Config: v1.Config{Cmd: []string{"/old"}}})
	if err != nil {
		t.Fatal(err)
	}
	push(t, fake.host+"/old:v1", image)
	got, err := resolver.Resolve(t.Context(), fake.host+"/old:v1", nil)
	if err != nil || got.Platform != "" || got.Cmd[0] != "/old" {
		t.Errorf("Resolve = %+v, %v", got, err)
	}
}
