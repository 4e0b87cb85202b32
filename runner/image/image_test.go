package image

import (
	"bytes"
	"context"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/mcpaudit/mcpaudit/runner/packages"
)

// built returns an image with one file for an architecture.
func built(t *testing.T, architecture string) v1.Image {
	t.Helper()
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(packed(t, file("etc/name", architecture), file("etc/passwd", "notes:x:5:6::/:\n")))), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	of, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{OS: "linux", Architecture: architecture, Config: v1.Config{
		Entrypoint: []string{"/serve"}, Cmd: []string{"--all"}, Env: []string{"A=1"}, User: "notes", WorkingDir: "/srv/notes",
	}})
	if err == nil {
		of, err = mutate.AppendLayers(of, layer)
	}
	if err != nil {
		t.Fatal(err)
	}
	return of
}

func on(of v1.Image, platform v1.Platform) mutate.IndexAddendum {
	return mutate.IndexAddendum{Add: of, Descriptor: v1.Descriptor{Platform: &platform}}
}

// served returns the name of an index in a registry.
func served(t *testing.T, index v1.ImageIndex) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	ref, err := name.ParseReference(strings.TrimPrefix(server.URL, "http://") + "/notes:1.0")
	if err == nil {
		err = remote.WriteIndex(ref, index)
	}
	if err != nil {
		t.Fatal(err)
	}
	return ref.String()
}

func TestGet(t *testing.T) {
	here, other := built(t, runtime.GOARCH), built(t, "s390x")
	index := mutate.AppendManifests(empty.Index, on(other, v1.Platform{OS: "linux", Architecture: "s390x"}),
		on(here, v1.Platform{OS: "linux", Architecture: runtime.GOARCH}), on(other, v1.Platform{OS: "unknown", Architecture: "unknown"}))
	dir := t.TempDir()
	if _, err := layout.Write(filepath.Join(dir, "layout"), index); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(dir, "saved.tar")
	tag, _ := name.NewTag("example.net/notes:1.0")
	if err := tarball.WriteToFile(archive, tag, here); err != nil {
		t.Fatal(err)
	}
	digest, _ := here.Digest()
	id, _ := here.ConfigName()
	named := served(t, index)
	for reference, want := range map[string]struct{ digest, tag string }{
		named:                        {digest.String(), "1.0"},
		filepath.Join(dir, "layout"): {digest.String(), ""},
		archive:                      {id.String(), ""},
		strings.TrimSuffix(named, ":1.0") + "@" + digest.String(): {digest.String(), ""},
	} {
		of, err := Get(context.Background(), packages.Container{Image: reference, Arguments: []string{"x"}, Volumes: []string{"/srv/data"}}, filepath.Join(t.TempDir(), "image"), nil)
		if err != nil {
			t.Errorf("%s: %v", reference, err)
			continue
		}
		if of.Digest != want.digest || of.Tag != want.tag || of.Dir != "/srv/notes" || of.UID != 5 || of.GID != 6 {
			t.Errorf("%s: %+v, want %+v", reference, of, want)
		}
		if text, err := os.ReadFile(filepath.Join(of.Root, "etc/name")); err != nil || string(text) != runtime.GOARCH {
			t.Errorf("%s: the file has %q (%v)", reference, text, err)
		}
		if strings.Join(of.Command, " ") != "/serve x" {
			t.Errorf("%s: command %q", reference, of.Command)
		}
		if entries, err := os.ReadDir(filepath.Join(of.Root, "srv/data")); err != nil || len(entries) > 0 {
			t.Errorf("%s: the volume has %v (%v)", reference, entries, err)
		}
	}
	of, err := Get(context.Background(), packages.Container{Image: archive, Entrypoint: "/other", Dir: "/d", User: "7:8"}, filepath.Join(t.TempDir(), "image"), nil)
	if err != nil || strings.Join(of.Command, " ") != "/other" || of.Dir != "/d" || of.UID != 7 || of.GID != 8 {
		t.Errorf("with an entrypoint, a working directory and a user: %+v (%v)", of, err)
	}
}

// TestEncrypted: a server.json leads to no registry on this machine or beside it.
func TestEncrypted(t *testing.T) {
	for _, reference := range []string{"127.0.0.1:5000/notes", "localhost:5000/notes", "10.0.0.1/notes", "Upper Case"} {
		if Encrypted(reference) == nil {
			t.Errorf("%s: no error", reference)
		}
	}
	if err := Encrypted("notes"); err != nil {
		t.Error(err)
	}
}

func TestBadImages(t *testing.T) {
	other, here := built(t, "s390x"), built(t, runtime.GOARCH)
	dir := t.TempDir()
	elsewhere := served(t, mutate.AppendManifests(empty.Index, on(other, v1.Platform{OS: "linux", Architecture: "s390x"})))
	both := mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: here}, mutate.IndexAddendum{Add: other})
	for at, index := range map[string]v1.ImageIndex{"both": both, "wrong": mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: other}),
		"changed": mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: here})} {
		if _, err := layout.Write(filepath.Join(dir, at), index); err != nil {
			t.Fatal(err)
		}
	}
	// The changed image's blobs, one by one: none of them is believed by its name.
	digest, _ := here.Digest()
	id, _ := here.ConfigName()
	layers, _ := here.Layers()
	layer, _ := layers[0].Digest()
	for _, blob := range []v1.Hash{digest, id, layer} {
		path := filepath.Join(dir, "changed/blobs/sha256", blob.Hex)
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		after := bytes.Replace(before, []byte(`:`), []byte(` :`), 1)
		if blob == layer {
			after, err = os.ReadFile(filepath.Join(dir, "wrong/blobs/sha256", layerOf(t, other).Hex))
		}
		if err == nil {
			err = os.WriteFile(path, after, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Get(context.Background(), packages.Container{Image: filepath.Join(dir, "changed")}, filepath.Join(t.TempDir(), "image"), nil); err == nil || !strings.Contains(err.Error(), "digest") {
			t.Errorf("a changed blob: %v", err)
		}
		if err := os.WriteFile(path, before, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Of two lists, one runtime takes the first and another the last.
	if err := os.CopyFS(filepath.Join(dir, "twofold"), os.DirFS(filepath.Join(dir, "changed"))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "twofold/index.json")
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, bytes.Replace(text, []byte("{"), []byte(`{"Manifests":[],`), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "text"), []byte("no archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	for reference, want := range map[string]string{
		elsewhere:                     "0 images for linux/" + runtime.GOARCH + ", and not one (it names linux/s390x)",
		filepath.Join(dir, "both"):    "2 images for linux/",
		filepath.Join(dir, "wrong"):   "it is for linux/s390x",
		filepath.Join(dir, "twofold"): "container runtimes could read it in different ways",
		filepath.Join(dir, "text"):    "it is no archive of an image",
		filepath.Join(dir, "absent"):  "no such file",
		dir:                           "it has no index.json",
		"Upper Case":                  "invalid name",
		digest.String():               "invalid name", // the id of an image of this machine
		"127.0.0.1:9/notes":           "connection refused",
		strings.Replace(elsewhere, "1.0", "2.0", 1): "MANIFEST_UNKNOWN",
	} {
		_, err := Get(context.Background(), packages.Container{Image: reference}, filepath.Join(t.TempDir(), "image"), nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line with %q", reference, err, want)
		}
	}
	if len(commandOf(packages.Container{}, v1.Config{})) > 0 {
		t.Error("an image without a program has one")
	}
}

func layerOf(t *testing.T, of v1.Image) v1.Hash {
	t.Helper()
	layers, err := of.Layers()
	if err != nil {
		t.Fatal(err)
	}
	digest, err := layers[0].Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest
}
