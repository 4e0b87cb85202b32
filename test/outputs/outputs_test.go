//go:build outputs

package outputs

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

// hostile texts that a server may put wherever it has a say.
var hostile = []string{
	"\x1b[2J\u202e\x00\ufffe\n# x\n\n", "![i](http://evil.example/x.png) [a](http://evil.example) <img src=x onerror=alert(1)>",
	"a|b\\|c `` ` www.evil.example <a@evil.example> @octocat #12", "]]> --> &#x1; [[ATTACHMENT|/etc/passwd]] {0}", strings.Repeat("`a 1|", 200),
}

// reports are the specimens of runner/render, and hostile ones.
func reports(t *testing.T) map[string]report.Report {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "runner", "render", "testdata", "formats", "*.yaml"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%d specimens: %v", len(files), err)
	}
	all := map[string]report.Report{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		all[name] = decoded(t, b, "")
		for i, text := range hostile {
			all[name+"-hostile-"+string(rune('a'+i))] = decoded(t, b, text)
		}
	}
	return all
}

// decoded reads a report, and says text behind every text of it that a server chooses.
func decoded(t *testing.T, text []byte, behind string) report.Report {
	t.Helper()
	var tree any
	if err := yaml.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(poisoned(tree, "", behind))
	if err != nil {
		t.Fatal(err)
	}
	var r report.Report
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// chosen are the fields that no server has a say in.
var chosen = []string{"time", "startTime", "endTime", "until", "verdict", "reason", "failOn", "severity", "rule", "schemaVersion", "kind", "transport", "phase"}

func poisoned(v any, field, behind string) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = poisoned(v[k], k, behind)
		}
	case []any:
		for i := range v {
			v[i] = poisoned(v[i], field, behind)
		}
	case string:
		if !slices.Contains(chosen, field) {
			return v + behind
		}
	}
	return v
}

// files writes all reports in a format, and returns the files, sorted.
func files(t *testing.T, format, ending string) []string {
	t.Helper()
	f, ok := render.FormatNamed(format)
	if !ok {
		t.Fatalf("there is no format %s", format)
	}
	dir, all := t.TempDir(), reports(t)
	var names []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var out bytes.Buffer
		if err := f.Write(&out, all[name]); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, name+ending)
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		names = append(names, file)
	}
	return names
}

// installed runs a command in a directory of the cache that has the given name, once.
func installed(t *testing.T, name string, command ...string) string {
	t.Helper()
	cache := os.Getenv("MCPAUDIT_CACHE")
	if cache == "" {
		t.Fatal("MCPAUDIT_CACHE is not set: run make test-outputs")
	}
	dir := filepath.Join(cache, "outputs", name)
	done := filepath.Join(dir, ".installed")
	if _, err := os.Stat(done); err == nil {
		return dir
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, dir, command[0], command[1:]...)
	if err := os.WriteFile(done, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// npm installs a package of that version; pip one of Python, with what it needs.
func npm(t *testing.T, name, version string) string {
	t.Helper()
	dir := installed(t, "npm-"+strings.NewReplacer("/", "_", "@", "").Replace(name)+"-"+version,
		"npm", "install", "--prefix", ".", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", name+"@"+version)
	return filepath.Join(dir, "node_modules", name)
}

func pip(t *testing.T, name, version string) string {
	t.Helper()
	return installed(t, "pip-"+name+"-"+version, python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
		"--root-user-action=ignore", "--target", ".", name+"=="+version)
}

// python is Debian's, which make install sees to.
const python = "/usr/bin/python3"

// run runs a command and returns what it says; that it fails is a failure.
func run(t *testing.T, dir, command string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1")
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", command, strings.Join(args, " "), err, said)
	}
	return string(said)
}
