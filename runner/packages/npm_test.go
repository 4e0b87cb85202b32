package packages

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// archived returns an npm package of entries, a link where an entry has a target.
func archived(t *testing.T, entries ...tar.Header) []byte {
	t.Helper()
	var text bytes.Buffer
	packed := gzip.NewWriter(&text)
	archive := tar.NewWriter(packed)
	for _, h := range entries {
		content := h.Uname
		h.Uname, h.Mode, h.Typeflag = "", 0o644, tar.TypeReg
		if h.Linkname != "" {
			h.Typeflag = tar.TypeSymlink
		}
		h.Size = int64(len(content))
		err := archive.WriteHeader(&h)
		if err == nil {
			_, err = archive.Write([]byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// npmRegistry makes npm take packages only from a registry of ours, which has one package. It returns the paths that were asked for.
func npmRegistry(t *testing.T, description map[string]any, archive []byte) (asked func() []string, url string) {
	t.Helper()
	var lock sync.Mutex
	var paths []string
	sum := sha512.Sum512(archive)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lock.Lock()
		paths = append(paths, r.URL.Path)
		lock.Unlock()
		if strings.HasSuffix(r.URL.Path, ".tgz") {
			_, _ = w.Write(archive) // the client sees what is missing
			return
		}
		version := map[string]any{"dist": map[string]string{
			"tarball": "http://" + r.Host + "/x.tgz", "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
		}}
		for key, value := range description {
			version[key] = value
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"name": "x", "dist-tags": map[string]string{"latest": "1.0.0"}, "versions": map[string]any{"1.0.0": version}}) // as above
	}))
	t.Cleanup(server.Close)
	home := t.TempDir()
	for name, value := range map[string]string{
		"HOME": home, "npm_config_registry": server.URL, "npm_config_userconfig": filepath.Join(home, "none"), "npm_config_cache": filepath.Join(home, "cache"),
	} {
		t.Setenv(name, value)
	}
	return func() []string {
		lock.Lock()
		defer lock.Unlock()
		return slices.Clone(paths)
	}, server.URL
}

// TestAA5NPMRunsNothingAndStaysInItsDirectory holds npm to what it is trusted with.
func TestAA5NPMRunsNothingAndStaysInItsDirectory(t *testing.T) {
	needNPM(t)
	outside, dir := t.TempDir(), filepath.Join(t.TempDir(), "a", "b", "c")
	touch := "touch " + filepath.Join(outside, "ran")
	description := map[string]any{
		"name": "x", "version": "1.0.0", "hasInstallScript": true, "bin": map[string]string{"../../../../escaped": "main.js", "x": "main.js"},
		"scripts": map[string]string{"preinstall": touch, "install": touch, "postinstall": touch, "prepare": touch},
	}
	text, err := json.Marshal(description)
	if err != nil {
		t.Fatal(err)
	}
	archive := archived(t,
		tar.Header{Name: "package/package.json", Uname: string(text)}, tar.Header{Name: "package/main.js", Uname: "#!/usr/bin/env node\n"},
		tar.Header{Name: "package/.npmrc", Uname: "git=" + filepath.Join(outside, "git") + "\n"},
		tar.Header{Name: "package/link", Linkname: outside}, tar.Header{Name: "package/link/through", Uname: "x"},
		tar.Header{Name: "package/../../../../../escaped", Uname: "x"}, tar.Header{Name: filepath.Join(outside, "absolute"), Uname: "x"},
	)
	npmRegistry(t, description, archive)
	i, err := Package{Registry: NPM, Name: "x"}.Install(t.Context(), dir)
	if err != nil || i.programs["x"] == nil {
		t.Fatalf("%v, %v", i.programs, err)
	}
	for at, most := range map[string]int{outside: 0, filepath.Dir(dir): 1, filepath.Dir(filepath.Dir(dir)): 1} {
		if made, err := os.ReadDir(at); err != nil || len(made) > most {
			t.Errorf("npm made %v in %s, %v", made, at, err)
		}
	}
}

// TestAA5NPMFetchesNothingByURL: the URL that a package names may be that of a service on this machine.
func TestAA5NPMFetchesNothingByURL(t *testing.T) {
	if major, minor := needNPM(t); major < 11 || major == 11 && minor < 10 {
		t.Skip("npm before 11.10 fetches from any URL: see docs/security-model.md")
	}
	described := map[string]any{"name": "x", "version": "1.0.0", "dependencies": map[string]string{}}
	text := `{"name":"x","version":"1.0.0"}`
	asked, url := npmRegistry(t, described, archived(t, tar.Header{Name: "package/package.json", Uname: text}))
	described["dependencies"] = map[string]string{"y": url + "/elsewhere/y.tgz"}
	if _, err := (Package{Registry: NPM, Name: "x"}).Install(t.Context(), filepath.Join(t.TempDir(), "x")); err == nil {
		t.Error("it is installed")
	}
	if slices.Contains(asked(), "/elsewhere/y.tgz") {
		t.Error("npm asked the service")
	}
}

// needNPM returns the version of npm, which hack/install.sh installs where there is none.
func needNPM(t *testing.T) (major, minor int) {
	t.Helper()
	said, err := exec.Command("npm", "--version").Output()
	if err != nil {
		t.Fatal("run make install: ", err)
	}
	parts := strings.Split(string(said), ".")
	major, err = strconv.Atoi(parts[0])
	if err == nil && len(parts) > 1 {
		minor, err = strconv.Atoi(parts[1])
	}
	if err != nil {
		t.Fatalf("npm has the version %q", said)
	}
	return major, minor
}
