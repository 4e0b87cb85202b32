package scripts

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	gcr "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	none "github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/rogpeppe/go-internal/testscript"
)

// container makes an image of a directory. DIR/config.json is its config, each other file is at its path below /, and each
// PROGRAM of the tests is in /usr/bin. It is an OCI layout (DIR.layout), an archive of that (DIR.oci.tar) and of an older
// docker save (DIR.tar), and in a registry ($IMAGE), beside one for another processor. $DIGEST is that of its manifest.
func container(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: container DIR [PROGRAM...]")
	}
	dir := ts.MkAbs(args[0])
	var config v1.Config
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(filepath.Join(dir, "config.json"))), &config))
	image, err := mutate.ConfigFile(none.Image, &v1.ConfigFile{OS: "linux", Architecture: "amd64", Config: config})
	ts.Check(err)
	text, err := layerOf(dir, args[1:])
	ts.Check(err)
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil })
	ts.Check(err)
	image, err = mutate.AppendLayers(image, layer)
	ts.Check(err)
	digest, err := image.Digest()
	ts.Check(err)
	ts.Setenv("DIGEST", digest.String())

	stored, err := layout.Write(dir+".layout", none.Index)
	ts.Check(err)
	ts.Check(stored.AppendImage(image))
	archive, err := os.Create(dir + ".oci.tar")
	ts.Check(err)
	packed := tar.NewWriter(archive)
	ts.Check(packed.AddFS(os.DirFS(dir + ".layout")))
	ts.Check(packed.Close())
	ts.Check(archive.Close())
	tag, err := name.NewTag("example.net/notes:1.0")
	ts.Check(err)
	ts.Check(tarball.WriteToFile(dir+".tar", tag, image))

	server := httptest.NewServer(gcr.New(gcr.Logger(log.New(io.Discard, "", 0))))
	ts.Defer(server.Close)
	ref, err := name.ParseReference(strings.TrimPrefix(server.URL, "http://") + "/" + args[0] + ":1.0")
	ts.Check(err)
	index := mutate.AppendManifests(none.Index,
		mutate.IndexAddendum{Add: none.Image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "s390x"}}},
		mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "amd64"}}})
	ts.Check(remote.WriteIndex(ref, index))
	ts.Setenv("IMAGE", ref.String())
}

// layerOf packs the files of a directory, and programs of the tests.
func layerOf(dir string, programs []string) ([]byte, error) {
	var packed bytes.Buffer
	archive := tar.NewWriter(&packed)
	add := func(name string, mode int64, text []byte) error {
		if err := archive.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: mode, Size: int64(len(text))}); err != nil {
			return err
		}
		_, err := archive.Write(text)
		return err
	}
	err := each(os.DirFS(dir), ".", func(name string, text []byte) error {
		if name == "config.json" {
			return nil
		}
		return add(name, 0o755, text)
	})
	for _, program := range programs {
		text, readErr := os.ReadFile(filepath.Join(built, program))
		if err == nil {
			err = readErr
		}
		if err == nil {
			err = add("usr/bin/"+program, 0o755, text)
		}
	}
	if err == nil {
		err = archive.Close()
	}
	return packed.Bytes(), err
}
