package oci

import (
	"archive/tar"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// twoArchitectures packs the same note for two architectures, from files that the
// umask of their writer has changed.
func twoArchitectures(t *testing.T, mode os.FileMode) v1.ImageIndex {
	t.Helper()
	source := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(source, []byte("program"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(source, mode); err != nil {
		t.Fatal(err)
	}
	tree := NewTree()
	tree.Copy("/program", source)
	l, err := tree.Layer(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{"org.opencontainers.image.version": "v1"}
	var images []v1.Image
	for _, arch := range []string{"amd64", "arm64"} {
		img, err := Image(Config{Entrypoint: []string{"/program"}, Architecture: arch, Labels: labels, Created: time.Unix(1700000000, 0)}, l)
		if err != nil {
			t.Fatal(err)
		}
		images = append(images, img)
	}
	index, err := Index(labels, images...)
	if err != nil {
		t.Fatal(err)
	}
	return index
}

func TestArchiveIsReproducible(t *testing.T) {
	var sums [2][sha256.Size]byte
	for i, mode := range []os.FileMode{0o755, 0o775} {
		file := filepath.Join(t.TempDir(), "image.tar")
		if err := WriteArchive(file, "registry.example/team/note:v1", twoArchitectures(t, mode)); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sums[i] = sha256.Sum256(content)
	}
	if sums[0] != sums[1] {
		t.Errorf("SHA-256 %x and %x", sums[0], sums[1])
	}
}

func TestArchiveKeepsItsDigestInARegistry(t *testing.T) {
	index := twoArchitectures(t, 0o755)
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range manifest.Manifests {
		if m.ArtifactType != "" || m.Platform == nil || m.Platform.OS != "linux" {
			t.Errorf("descriptor %+v", m)
		}
	}
	file := filepath.Join(t.TempDir(), "image.tar")
	if err := WriteArchive(file, "registry.example/team/note:v1", index); err != nil {
		t.Fatal(err)
	}
	address := serve(t, "")
	pushed, err := PushArchive(t.Context(), file, address+"/mirror")
	if err != nil {
		t.Fatal(err)
	}
	digest, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if want := address + "/mirror/team/note@" + digest.String(); pushed != want {
		t.Errorf("pushed %s, want %s", pushed, want)
	}
	tag, err := name.NewTag(address + "/mirror/team/note:v1")
	if err != nil {
		t.Fatal(err)
	}
	for _, arch := range []string{"amd64", "arm64"} {
		img, err := remote.Image(tag, remote.WithPlatform(v1.Platform{OS: "linux", Architecture: arch}))
		if err != nil {
			t.Fatal(err)
		}
		if config, err := img.ConfigFile(); err != nil || config.Architecture != arch || config.Config.Labels["org.opencontainers.image.version"] != "v1" {
			t.Errorf("%s: config %+v, error %v", arch, config, err)
		}
	}
}

func TestArchiveThatIsNone(t *testing.T) {
	archive := func(entries ...tar.Header) string {
		file := filepath.Join(t.TempDir(), "image.tar")
		f, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		out := tar.NewWriter(f)
		for _, h := range entries {
			if err := out.WriteHeader(&h); err != nil {
				t.Fatal(err)
			}
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for want, file := range map[string]string{
		"Member name contains '..'": archive(tar.Header{Name: "../outside", Typeflag: tar.TypeReg}),
		"index.json":                archive(),
	} {
		if _, err := PushArchive(t.Context(), file, "127.0.0.1:1"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestLibrariesIn(t *testing.T) {
	listed, err := Libraries(t.Context(), "/usr/bin/strace")
	if err != nil {
		t.Fatal(err)
	}
	found, err := LibrariesIn("/", filepath.Base(filepath.Dir(find(t, listed, "/libc.so.6"))), "/usr/bin/strace")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range listed {
		if found[file] == "" {
			t.Errorf("%s is not in %v, ldd lists it", file, found)
		}
	}
	if len(found) != len(listed) {
		t.Errorf("%d libraries, ldd lists %d", len(found), len(listed))
	}
	if _, err := LibrariesIn("/", "none", "/usr/bin/strace"); err == nil || !strings.Contains(err.Error(), "no lib") {
		t.Errorf("got %v, want the missing library", err)
	}
}

func find(t *testing.T, files []string, end string) string {
	t.Helper()
	for _, file := range files {
		if strings.HasSuffix(file, end) {
			return file
		}
	}
	t.Fatalf("no %s in %v", end, files)
	return ""
}
