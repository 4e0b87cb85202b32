package image

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/packages"
)

// TestAB4WhatIsReadIntoMemoryIsBounded: an archive of some bytes may hold a sparse file of gigabytes, and a layout in a
// checkout a pipe or a device.
func TestAB4WhatIsReadIntoMemoryIsBounded(t *testing.T) {
	of := built(t, runtime.GOARCH)
	config, _ := of.ConfigName()
	manifest, _ := of.Digest()
	grow := func(path string) error { return os.Truncate(path, maxConfig+1) }
	for what, change := range map[string]func(dir string) error{
		"its blob " + config.String() + " has more":   func(dir string) error { return grow(filepath.Join(dir, "blobs/sha256", config.Hex)) },
		"its blob " + manifest.String() + " has more": func(dir string) error { return grow(filepath.Join(dir, "blobs/sha256", manifest.Hex)) },
		"or one of more than":                         func(dir string) error { return grow(filepath.Join(dir, index)) },
		"its blob " + layerOf(t, of).String() + " is no file": func(dir string) error {
			path := filepath.Join(dir, "blobs/sha256", layerOf(t, of).Hex)
			return errors.Join(os.Remove(path), unix.Mkfifo(path, 0o600))
		},
	} {
		dir := t.TempDir()
		_, err := layout.Write(dir, mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: of}))
		if err := errors.Join(err, change(dir)); err != nil {
			t.Fatal(err)
		}
		wants(t, dir, what)
	}

	saved, tag := filepath.Join(t.TempDir(), "saved.tar"), name.MustParseReference("example.net/notes:1.0")
	if err := tarball.WriteToFile(saved, tag, of); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(*tar.Header, []byte) []byte{
		"its config has more": func(h *tar.Header, content []byte) []byte {
			if h.Name == config.String() {
				content = append(content, bytes.Repeat([]byte(" "), maxConfig)...)
			}
			return content
		},
		"its manifest.json has more": func(h *tar.Header, content []byte) []byte {
			if h.Name == "manifest.json" {
				content = append(bytes.Repeat([]byte(" "), maxConfig), content...)
			}
			return content
		},
	} {
		wants(t, changed(t, saved, change), what)
	}
}

func wants(t *testing.T, reference, what string) {
	t.Helper()
	if _, err := Get(context.Background(), packages.Container{Image: reference}, filepath.Join(t.TempDir(), "image"), nil); err == nil || !strings.Contains(err.Error(), what) {
		t.Errorf("error %v, want %q", err, what)
	}
}

// changed returns a copy of an archive with other contents.
func changed(t *testing.T, archive string, change func(*tar.Header, []byte) []byte) string {
	t.Helper()
	text, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	from, to := tar.NewReader(bytes.NewReader(text)), tar.NewWriter(&out)
	for {
		h, err := from.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		content, err := io.ReadAll(from)
		if err != nil {
			t.Fatal(err)
		}
		content = change(h, content)
		h.Size = int64(len(content))
		if err := to.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := to.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "changed.tar")
	if err := errors.Join(to.Close(), os.WriteFile(path, out.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}
