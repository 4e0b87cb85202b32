package scripts

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// registry serves the packages of a directory over HTTP, and sets npm and pip up to ask it. Each directory below npm
// is a package of npm, below pypi a wheel, and below sources an archive that pip has to build. The files of a wheel name
// the server as {URL}. Each directory below mcpb is packed into a bundle, NAME.mcpb, and served as /mcpb/NAME.mcpb. Each
// registry/NAMESPACE/NAME.json is the newest version of a server of an MCP registry, whose URL is $REGISTRY.
func registry(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: registry DIRECTORY")
	}
	files := map[string][]byte{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if strings.HasSuffix(r.URL.Path, "/") {
			w.Header().Set("Content-Type", "text/html")
		}
		_, _ = w.Write(body) // the client says whether it came
	}))
	ts.Defer(server.Close)
	root := os.DirFS(ts.MkAbs(args[0]))
	for _, add := range []func(fs.FS, string, map[string][]byte) error{npmRegistry, pypiIndex, sources} {
		ts.Check(add(root, server.URL, files))
	}
	bundles, err := fs.Glob(root, "mcpb/*")
	ts.Check(err)
	for _, dir := range bundles {
		bundle, err := zipped(root, dir, "")
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(path.Base(dir)+".mcpb"), bundle, 0o600))
		files["/mcpb/"+path.Base(dir)+".mcpb"] = bundle
	}
	servers, err := fs.Glob(root, "registry/*/*.json")
	ts.Check(err)
	for _, name := range servers {
		text, err := fs.ReadFile(root, name)
		ts.Check(err)
		at := "/v0.1/servers/" + strings.TrimSuffix(strings.TrimPrefix(name, "registry/"), ".json") + "/versions/latest"
		files[at] = fmt.Appendf(nil, `{"server": %s, "_meta": {}}`, bytes.ReplaceAll(text, []byte("{URL}"), []byte(server.URL)))
	}
	ts.Setenv("REGISTRY", server.URL)
	ts.Setenv("npm_config_registry", server.URL+"/npm/")
	ts.Setenv("PIP_INDEX_URL", server.URL+"/simple/")
}

// npmRegistry adds each npm/NAME: a document that describes it, and a tarball (docs.npmjs.com, package metadata).
func npmRegistry(root fs.FS, url string, files map[string][]byte) error {
	dirs, err := fs.Glob(root, "npm/*")
	for _, dir := range dirs {
		name := path.Base(dir)
		text, err := fs.ReadFile(root, path.Join(dir, "package.json"))
		if err != nil {
			return err
		}
		var version map[string]any
		if err := json.Unmarshal(text, &version); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		tarball, err := pack(root, dir, "package")
		if err != nil {
			return err
		}
		sum := sha512.Sum512(tarball)
		version["dist"] = map[string]string{"tarball": url + "/npm/" + name + ".tgz", "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
		number := fmt.Sprint(version["version"])
		document, err := json.Marshal(map[string]any{"name": name, "dist-tags": map[string]string{"latest": number}, "versions": map[string]any{number: version}})
		if err != nil {
			return err
		}
		files["/npm/"+name], files["/npm/"+name+".tgz"] = document, tarball
	}
	return err
}

// pack makes the tarball of a directory: everything is below another one there.
func pack(root fs.FS, dir, below string) ([]byte, error) {
	var packed bytes.Buffer
	compressed := gzip.NewWriter(&packed)
	archive := tar.NewWriter(compressed)
	err := each(root, dir, func(name string, text []byte) error {
		if err := archive.WriteHeader(&tar.Header{Name: below + "/" + name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			return err
		}
		_, err := archive.Write(text)
		return err
	})
	if err == nil {
		err = archive.Close()
	}
	if err == nil {
		err = compressed.Close()
	}
	return packed.Bytes(), err
}

// pypiIndex adds each pypi/NAME-VERSION: a page of links, and a wheel (packaging.python.org, Simple repository API).
func pypiIndex(root fs.FS, url string, files map[string][]byte) error {
	dirs, err := fs.Glob(root, "pypi/*")
	for _, dir := range dirs {
		wheel, err := zipped(root, dir, url)
		if err != nil {
			return err
		}
		file := path.Base(dir) + "-py3-none-any.whl"
		name, _, _ := strings.Cut(path.Base(dir), "-")
		files["/wheels/"+file] = wheel
		files["/simple/"+name+"/"] = fmt.Appendf(nil, `<!DOCTYPE html><a href="/wheels/%s">%s</a>`, file, file)
	}
	return err
}

// sources adds each sources/NAME-VERSION, which pip would build.
func sources(root fs.FS, _ string, files map[string][]byte) error {
	dirs, err := fs.Glob(root, "sources/*")
	for _, dir := range dirs {
		tarball, err := pack(root, dir, path.Base(dir))
		if err != nil {
			return err
		}
		files["/sources/"+path.Base(dir)+".tar.gz"] = tarball
	}
	return err
}

// zipped is the zip file of what is below a directory, with a URL where it has {URL}.
func zipped(root fs.FS, dir, url string) ([]byte, error) {
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	err := each(root, dir, func(name string, text []byte) error {
		w, err := archive.Create(name)
		if err == nil {
			_, err = w.Write(bytes.ReplaceAll(text, []byte("{URL}"), []byte(url)))
		}
		return err
	})
	if err == nil {
		err = archive.Close()
	}
	return packed.Bytes(), err
}

// each calls f for each file below a directory, by its path from there.
func each(root fs.FS, dir string, f func(name string, text []byte) error) error {
	return fs.WalkDir(root, dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		return f(strings.TrimPrefix(name, dir+"/"), text)
	})
}
