package imageref_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/mcpaudit/mcpaudit/controllers/imageref"
)

var amd64 = &v1.Platform{OS: "linux", Architecture: "amd64"}

func sum(body []byte) string {
	digest := sha256.Sum256(body)
	return "sha256:" + hex.EncodeToString(digest[:])
}

func descriptor(mediaType types.MediaType, body []byte) map[string]any {
	return map[string]any{"mediaType": mediaType, "digest": sum(body), "size": len(body)}
}

func encode(t *testing.T, value any) []byte {
	t.Helper()
	body, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// put stores a manifest as it is, which a client of a registry would not build.
func put(t *testing.T, fake *fakeRegistry, repository, reference string, mediaType types.MediaType, body []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://"+fake.host+"/v2/"+repository+"/manifests/"+reference, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", string(mediaType))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusCreated {
		t.Fatalf("PUT %s: %s", reference, answer.Status)
	}
}

func digestOf(t *testing.T, image interface{ Digest() (v1.Hash, error) }) string {
	t.Helper()
	digest, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest.String()
}

// The index has one image that containerd runs, and one that an earlier chooser took.
func TestS1ManifestThatIsNeverRunHasNoVerdict(t *testing.T) {
	fake := newRegistry(t, "")
	decoy, runs := built(t, "linux/amd64/v9"), built(t, "linux/amd64")
	for name, add := range map[string]mutate.IndexAddendum{
		"variant":    {Add: decoy, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "amd64", Variant: "v9"}}},
		"noplatform": {Add: decoy},
		"features":   {Add: decoy, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "amd64", OSFeatures: []string{"x"}}}},
		"nested": {Add: mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: decoy, Descriptor: v1.Descriptor{Platform: amd64}}),
			Descriptor: v1.Descriptor{Platform: amd64}},
	} {
		t.Run(name, func(t *testing.T) {
			index := mutate.AppendManifests(empty.Index, add, mutate.IndexAddendum{Add: runs, Descriptor: v1.Descriptor{Platform: amd64}})
			push(t, fake.host+"/multi:"+name, index)
			got, err := newResolver(t, fake.host).Resolve(t.Context(), fake.host+"/multi:"+name, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got.Ambiguous == "" || got.Digest != digestOf(t, index) {
				t.Errorf("%s is unambiguous", got.Digest)
			}
			if want := digestOf(t, runs); got.Manifest != want || got.Reference != fake.host+"/multi@"+want || got.Entrypoint[0] != "linux/amd64" {
				t.Errorf("the Pod runs %s with %v, want %s", got.Reference, got.Entrypoint, want)
			}
		})
	}
}

// A document that is read in two ways is refused, whether it is named or a part of an index.
func TestS3PolyglotIsRefused(t *testing.T) {
	fake := newRegistry(t, "")
	good := newImage(t, "/good")
	push(t, fake.host+"/team/notes:good", good)
	manifest, err := good.RawManifest()
	if err != nil {
		t.Fatal(err)
	}
	var both map[string]any
	if err := json.Unmarshal(manifest, &both); err != nil {
		t.Fatal(err)
	}
	child := descriptor(types.DockerManifestSchema2, manifest)
	child["platform"] = amd64
	both["manifests"] = []any{child}
	delete(both, "mediaType")
	polyglot := encode(t, both)
	asChild := descriptor(types.DockerManifestSchema2, polyglot)
	asChild["platform"] = amd64
	lying := descriptor(types.OCIManifestSchema1, manifest) // which is Docker's
	lying["platform"] = amd64
	put(t, fake, "team/notes", sum(polyglot), types.DockerManifestSchema2, polyglot)
	for tag, of := range map[string]struct {
		mediaType types.MediaType
		body      []byte
	}{
		"polyglot-index": {types.OCIImageIndex, polyglot},
		"polyglot-image": {types.DockerManifestSchema2, polyglot},
		"polyglot-child": {types.OCIImageIndex, encode(t, map[string]any{"schemaVersion": 2, "manifests": []any{asChild}})},
		"lying-child":    {types.OCIImageIndex, encode(t, map[string]any{"schemaVersion": 2, "manifests": []any{lying}})},
		"lying-header":   {types.OCIManifestSchema1, manifest},
	} {
		t.Run(tag, func(t *testing.T) {
			put(t, fake, "team/notes", tag, of.mediaType, of.body)
			got, err := newResolver(t, fake.host).Resolve(t.Context(), fake.host+"/team/notes:"+tag, nil)
			if !errors.Is(err, imageref.ErrAmbiguous) {
				t.Errorf("Resolve = %+v, %v, want ErrAmbiguous", got, err)
			}
		})
	}
}

// The config of an honest image that is a manifest as well: its digest is the image's ID
// and none of its manifests.
func TestS3ConfigDigestIsNoManifestDigest(t *testing.T) {
	fake := newRegistry(t, "")
	evil := newImage(t, "/evil")
	push(t, fake.host+"/x/y:evil", evil)
	evilManifest, err := evil.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	config := encode(t, map[string]any{
		"schemaVersion": 2, "mediaType": types.OCIManifestSchema1, "architecture": "amd64", "os": "linux",
		"config": map[string]any{"Entrypoint": []string{"/good"}, "mediaType": types.OCIConfigJSON, "digest": evilManifest.Config.Digest, "size": evilManifest.Config.Size},
		"layers": []any{}, "rootfs": map[string]any{"type": "layers", "diff_ids": []string{}},
	})
	repository, err := name.NewRepository(fake.host + "/x/y")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.WriteLayer(repository, static.NewLayer(config, types.OCIConfigJSON)); err != nil {
		t.Fatal(err)
	}
	put(t, fake, "x/y", "good", types.OCIManifestSchema1, encode(t, map[string]any{
		"schemaVersion": 2, "mediaType": types.OCIManifestSchema1, "config": descriptor(types.OCIConfigJSON, config), "layers": []any{},
	}))
	put(t, fake, "x/y", "config", types.OCIManifestSchema1, config)
	got, err := newResolver(t, fake.host).Resolve(t.Context(), fake.host+"/x/y:good", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Entrypoint[0] != "/good" || got.ID != sum(config) || got.Digest == got.ID || got.Manifest != got.Digest {
		t.Errorf("Resolve = %+v", got)
	}
	pulled, err := newResolver(t, fake.host).Resolve(t.Context(), fake.host+"/x/y@"+got.ID, nil)
	if err != nil || strings.Join(pulled.Entrypoint, "") != "/evil" {
		t.Errorf("the config is no manifest, so that this says nothing: %+v, %v", pulled, err)
	}
}
