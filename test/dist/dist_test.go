//go:build dist

package dist

import (
	"archive/tar"
	"bufio"
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	version = "v9.8.7-rc.1"
	commit  = "0123456789abcdef0123456789abcdef01234567"
)

// built is a release in a folder; sums are those of SHA256SUMS, and lock is the text of
// the debian.lock that it is made by.
type built struct {
	dir  string
	sums map[string]string
	lock string
}

// try runs a script in a folder, and returns what it says.
func try(t *testing.T, dir, script string, env ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func shell(t *testing.T, dir, script string, env ...string) string {
	t.Helper()
	out, err := try(t, dir, script, env...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return out
}

// sources copies the tree as it is, without its history.
func sources(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	shell(t, "../..", `git ls-files -z -co --exclude-standard | tar --null --no-recursion --ignore-failed-read -T - -c | tar -x -C "$TO"`, "TO="+dir)
	return dir
}

// build makes a release of the sources in another folder, with modes of another umask.
// Where the lock of the tree is stale, it is made by one in the file fresh.
func build(t *testing.T, sources, fresh, name, mode string) built {
	t.Helper()
	tree := filepath.Join(t.TempDir(), name)
	dir := filepath.Join(tree, "dist")
	said := shell(t, sources, `mkdir -p "$TREE"; cp -r . "$TREE"; chmod -R "$MODE" "$TREE"; cd "$TREE"; hack/dist-test.sh "$FRESH"`,
		"TREE="+tree, "MODE="+mode, "FRESH="+fresh, "VERSION="+version, "COMMIT="+commit, "SOURCE_DATE_EPOCH=1700000000")
	lock, err := os.ReadFile(fresh)
	if errors.Is(err, os.ErrNotExist) {
		lock, err = os.ReadFile(filepath.Join(sources, "hack/images/debian.lock"))
	} else if _, stale, ok := strings.Cut(said, "STALE LOCK: "); ok {
		t.Logf("STALE LOCK: %s", stale)
	}
	if err != nil {
		t.Fatal(err)
	}
	b := built{dir: dir, sums: map[string]string{}, lock: string(lock)}
	for lines := bufio.NewScanner(bytes.NewReader(b.read(t, "SHA256SUMS"))); lines.Scan(); {
		sum, file, ok := strings.Cut(lines.Text(), "  ")
		if !ok {
			t.Fatalf("SHA256SUMS: %q", lines.Text())
		}
		b.sums[file] = sum
	}
	return b
}

func (b built) read(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(b.dir, file))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestRelease(t *testing.T) {
	t.Parallel()
	from, fresh := sources(t), filepath.Join(t.TempDir(), "debian.lock")
	first := build(t, from, fresh, "one", "g+w,o+w")
	t.Run("all files are there and have their checksums", first.testFiles)
	t.Run("programs say what they are", first.testPrograms)
	t.Run("images", first.testImages)
	t.Run("the SBOM is CycloneDX", first.testSBOM)
	t.Run("the chart", first.testChart)
	t.Run("a second build in another folder is the same", func(t *testing.T) {
		second := build(t, from, fresh, "another/folder", "go-w")
		for file, sum := range first.sums {
			if second.sums[file] != sum {
				t.Errorf("%s differs: %s and %s", file, sum, second.sums[file])
			}
		}
		if len(first.sums) != len(second.sums) {
			t.Errorf("%d and %d files", len(first.sums), len(second.sums))
		}
	})
}

func (b built) testFiles(t *testing.T) {
	want := []string{
		"images.txt", "install.yaml", "kubectl-mcpaudit-linux-amd64", "kubectl-mcpaudit-linux-arm64", "manager.oci.tar", "mcp-audit-operator-9.8.7-rc.1.tgz",
		"mcpaudit-linux-amd64", "mcpaudit-linux-arm64", "runner.oci.tar", "sbom.cdx.json",
	}
	if got := slices.Sorted(maps.Keys(b.sums)); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for file, sum := range b.sums {
		if got := fmt.Sprintf("%x", sha256.Sum256(b.read(t, file))); got != sum {
			t.Errorf("%s: SHA-256 %s, SHA256SUMS has %s", file, got, sum)
		}
	}
	there, err := os.ReadDir(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(there) != len(want)+1 {
		t.Errorf("%d files, SHA256SUMS has %d", len(there), len(want))
	}
}

// says is the first line of what a program prints about itself.
func says(t *testing.T, program string, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	text := string(out)
	for _, want := range []string{" " + version + " commit " + commit + " " + runtime.Version() + " linux/" + runtime.GOARCH + "\n", "\nrules sha256:"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s says %q, want %q in it", program, text, want)
		}
	}
}

func (b built) testPrograms(t *testing.T) {
	machines := map[string]elf.Machine{"mcpaudit-linux-amd64": elf.EM_X86_64, "mcpaudit-linux-arm64": elf.EM_AARCH64}
	for file, want := range machines {
		program, err := elf.Open(filepath.Join(b.dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if program.Machine != want {
			t.Errorf("%s is for %s", file, program.Machine)
		}
		_ = program.Close()
	}
	says(t, filepath.Join(b.dir, "mcpaudit-linux-"+runtime.GOARCH), "version")
}

func (b built) testImages(t *testing.T) {
	installed := string(b.read(t, "install.yaml"))
	for name, args := range map[string][]string{"manager": {"--version"}, "runner": {"version"}} {
		dir := t.TempDir()
		if out, err := exec.CommandContext(t.Context(), "tar", "-C", dir, "-xf", filepath.Join(b.dir, name+".oci.tar")).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		top, err := layout.ImageIndexFromPath(dir)
		if err != nil {
			t.Fatal(err)
		}
		manifest, err := top.IndexManifest()
		if err != nil || len(manifest.Manifests) != 1 {
			t.Fatalf("%s: manifest %+v, error %v", name, manifest, err)
		}
		digest := manifest.Manifests[0].Digest
		index, err := top.ImageIndex(digest)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate.Index(index); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		ref := "ghcr.io/mcpaudit/" + name
		if !strings.Contains(string(b.read(t, "images.txt")), ref+":"+version+"@"+digest.String()+"\n") {
			t.Errorf("images.txt has no %s at %s", ref, digest)
		}
		if !strings.Contains(installed, ref+"@"+digest.String()+"\n") {
			t.Errorf("install.yaml has no %s@%s", ref, digest)
		}
		testPlatforms(t, name, index, args)
	}
}

// programs of the images by their names.
var programs = map[string]string{"manager": "manager", "runner": "mcpaudit-runner"}

func testPlatforms(t *testing.T, name string, index v1.ImageIndex, args []string) {
	t.Helper()
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var platforms []string
	for _, m := range manifest.Manifests {
		platforms = append(platforms, m.Platform.String())
		image, err := index.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		files := extract(t, image)
		machine := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[m.Platform.Architecture]
		for file, content := range files {
			program, err := elf.NewFile(bytes.NewReader(content))
			if err == nil && program.Machine != machine {
				t.Errorf("%s for %s: %s is for %s", name, m.Platform, file, program.Machine)
			}
		}
		want := []string{programs[name], "etc/ssl/certs/ca-certificates.crt"}
		if name == "runner" {
			want = append(want, "usr/bin/strace", "usr/share/doc/strace/copyright")
		}
		for _, file := range want {
			if len(files[file]) == 0 {
				t.Errorf("%s for %s has no %s", name, m.Platform, file)
			}
		}
		if m.Platform.Architecture == runtime.GOARCH {
			program := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(program, files[programs[name]], 0o755); err != nil {
				t.Fatal(err)
			}
			says(t, program, args...)
		}
	}
	if want := []string{"linux/amd64", "linux/arm64"}; !slices.Equal(platforms, want) {
		t.Errorf("%s is for %q", name, platforms)
	}
}

func extract(t *testing.T, image v1.Image) map[string][]byte {
	t.Helper()
	stream := mutate.Extract(image)
	defer func() { _ = stream.Close() }()
	files := map[string][]byte{}
	for entries := tar.NewReader(stream); ; {
		h, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(entries); err != nil {
			t.Fatal(err)
		}
	}
}

// testSBOM validates it by CycloneDX's own schema, and looks for what must be in it.
func (b built) testSBOM(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go")
	cmd.Dir = "../../hack/dist"
	dir, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	for name, file := range map[string]string{"bom-1.6.schema.json": "bom-1.6.schema.json", "spdx.schema.json": "spdx.schema.json", "jsf-0.82.schema.json": "jsf-0.82.schemax.json"} {
		content, err := os.Open(filepath.Join(strings.TrimSpace(string(dir)), "schema", file))
		if err != nil {
			t.Fatal(err)
		}
		document, err := jsonschema.UnmarshalJSON(content)
		if err := errors.Join(err, content.Close()); err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource("http://cyclonedx.org/schema/"+name, document); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	text := b.read(t, "sbom.cdx.json")
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(document); err != nil {
		t.Error(err)
	}
	var bom struct {
		Components []struct{ Name, Purl string }
	}
	if err := json.Unmarshal(text, &bom); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, c := range bom.Components {
		all = append(all, c.Purl)
	}
	wanted := []string{"pkg:golang/stdlib@" + strings.TrimPrefix(runtime.Version(), "go")}
	for _, m := range regexp.MustCompile(`(?m)^(\w+) strace (\S+) `).FindAllStringSubmatch(b.lock, -1) {
		wanted = append(wanted, "pkg:deb/debian/strace@"+m[2]+"?arch="+m[1]+"&distro=debian-12")
	}
	if len(wanted) != 3 {
		t.Errorf("the lock has strace for %d architectures, want 2", len(wanted)-1)
	}
	for _, want := range wanted {
		if !slices.Contains(all, want) {
			t.Errorf("no %s in the SBOM", want)
		}
	}
}

func (b built) testChart(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "../../hack/helm.sh", "template", "release", filepath.Join(b.dir, "mcp-audit-operator-9.8.7-rc.1.tgz"), "--namespace", "mcpaudit-system",
		"--kube-version", "1.34.0").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range programs {
		_, digest, _ := strings.Cut(string(regexp.MustCompile(`(?m)^.*/`+name+`:.*$`).Find(b.read(t, "images.txt"))), "@")
		if image := "ghcr.io/mcpaudit/" + name + "@" + digest; digest == "" || !strings.Contains(string(out), image) {
			t.Errorf("S18: the chart does not install %s", image)
		}
	}
}
