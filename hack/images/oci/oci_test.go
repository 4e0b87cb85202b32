package oci

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/crane"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// note returns a tree of one file.
func note(content string) *Tree {
	t := NewTree()
	t.Write("/srv/note", 0o640, content)
	return t
}

func image(t *testing.T, content string) v1.Image {
	t.Helper()
	l, err := note(content).Layer(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	img, err := Image(Config{Entrypoint: []string{"/srv/note"}, User: "1000"}, l)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func TestTreeIsSortedAndOwnedAndTimeless(t *testing.T) {
	source := t.TempDir()
	for _, f := range []string{"a.txt", "skipped/b.txt"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(source, f)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(source, f), []byte(f), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"good": "a.txt", "dangling": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(source, link)); err != nil {
			t.Fatal(err)
		}
	}
	tree := NewTree()
	tree.CopyAll("/data", source, func(rel string) bool { return rel == "skipped" })
	tree.Mkdir("/tmp", fs.ModeSticky|0o777, 0, 0)
	tree.Mkdir("/home/user", 0o755, 1000, 1000)
	var raw bytes.Buffer
	if err := tree.tar(&raw); err != nil {
		t.Fatal(err)
	}
	var got []string
	for in := tar.NewReader(&raw); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !h.ModTime.Equal(time.Unix(0, 0)) {
			t.Errorf("%s: time %v", h.Name, h.ModTime)
		}
		got = append(got, h.FileInfo().Mode().String()+" "+h.Name)
	}
	want := []string{
		"drwxr-xr-x data/", "-rw-r--r-- data/a.txt", "Lrwxrwxrwx data/good",
		"drwxr-xr-x home/", "drwxr-xr-x home/user/", "dtrwxrwxrwx tmp/",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestTreeKeepsItsFirstError(t *testing.T) {
	tree := NewTree()
	tree.Copy("/a", "/does/not/exist")
	tree.Write("/b", 0o644, "b")
	if _, err := tree.Layer(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want a file that does not exist", err)
	}
}

func TestCopyProgramBringsItsLibraries(t *testing.T) {
	tree := NewTree()
	tree.CopyProgram(t.Context(), "/bin/sh")
	if tree.err != nil {
		t.Fatal(tree.err)
	}
	for name := range tree.entries {
		if strings.Contains(name, "/libc.so") {
			return
		}
	}
	t.Errorf("no libc in %v", tree.entries)
}

func TestImageIsValidAndReproducible(t *testing.T) {
	first, second := image(t, "same"), image(t, "same")
	if err := validate.Image(first); err != nil {
		t.Error(err)
	}
	a, err := first.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if b, err := second.Digest(); err != nil || a != b {
		t.Errorf("digests %s and %s, error %v", a, b, err)
	}
	file, err := first.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if file.Config.User != "1000" || !slices.Equal(file.Config.Entrypoint, []string{"/srv/note"}) {
		t.Errorf("config %+v", file.Config)
	}
}

func TestLayerIsPackedOnce(t *testing.T) {
	cache := t.TempDir()
	for range 2 {
		if _, err := note("once").Layer(cache); err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(cache)
	if err != nil || len(files) != 1 {
		t.Errorf("%d files, error %v", len(files), err)
	}
}

// serve returns the address of a registry.
func serve(t *testing.T, dir string) string {
	t.Helper()
	server := httptest.NewServer(Registry(dir, io.Discard))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func TestPushMovesTheTag(t *testing.T) {
	tag := serve(t, t.TempDir()) + "/team/note:v1"
	var pushed []string
	for _, content := range []string{"one", "two"} {
		ref, err := Push(t.Context(), tag, image(t, content))
		if err != nil {
			t.Fatal(err)
		}
		pushed = append(pushed, ref)
		img, err := crane.Pull(tag)
		if err != nil {
			t.Fatal(err)
		}
		if digest, err := img.Digest(); err != nil || !strings.HasSuffix(ref, digest.String()) {
			t.Errorf("pushed %s, the tag gives %s, error %v", ref, digest, err)
		}
	}
	if pushed[0] == pushed[1] {
		t.Errorf("both are %s", pushed[0])
	}
	if _, err := crane.Pull(pushed[0]); err != nil {
		t.Errorf("the first is gone: %v", err)
	}
}
