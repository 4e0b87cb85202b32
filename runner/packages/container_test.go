package packages

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestContainer: what clients are configured with, and other spellings of it.
func TestContainer(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "config.json")
	if err := os.WriteFile(file, []byte("# mode\nA=1\n\nB\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]Container{
		"docker run -i --rm -e TOKEN ghcr.io/a/b":                                     {Image: "ghcr.io/a/b", Env: []string{"TOKEN"}},
		"/usr/bin/docker container run -it a/b:1 stdio --rm":                          {Image: "a/b:1", Arguments: []string{"stdio", "--rm"}},
		"podman run -i --network=host --name n --pull always -eA=1 --env=B=2 -m 1g a": {Image: "a", Env: []string{"A=1", "B=2"}},
		"nerdctl run --entrypoint node -w /app -u 1000 --init a x.js":                 {Image: "a", Arguments: []string{"x.js"}, Entrypoint: "node", Dir: "/app", User: "1000"},
		"docker run -v " + dir + ":/data/:ro -v cache:/c -v " + file + ":/f a":        {Image: "a", Volumes: []string{"/data", "/c"}},
		"docker run --mount type=bind,src=" + dir + ",dst=/projects a /projects":      {Image: "a", Arguments: []string{"/projects"}, Volumes: []string{"/projects"}},
		"docker run --env-file " + file + " -e A=2 a":                                 {Image: "a", Env: []string{"A=1", "B", "A=2"}},
	} {
		l, ok, err := Launch(strings.Fields(command), dir)
		if err != nil || !ok || l.String() != "oci:"+want.Image {
			t.Errorf("%s: %s (%t, %v)", command, l, ok, err)
			continue
		}
		got := *l.Container
		if len(got.Arguments) == 0 {
			got.Arguments = nil
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", command, got, want)
		}
	}
	for _, command := range []string{"docker", "docker ps", "docker exec a b", "docker compose run a", "docker mcp gateway run", "run a"} {
		if l, ok, err := Launch(strings.Fields(command), dir); ok || err != nil {
			t.Errorf("%s runs %s (%v)", command, l, err)
		}
	}
	for command, want := range map[string]string{
		"docker run":                           "docker run: no image",
		"docker run --new-flag a":              "unknown flag: --new-flag",
		"docker run --env-file /nonexistent a": "--env-file: open /nonexistent",
		"docker run -e":                        "flag needs an argument",
	} {
		if _, _, err := Launch(strings.Fields(command), dir); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want %q", command, err, want)
		}
	}
}

// TestContainerOfServerJSON: an image's flags are read as docker's, and take nothing of this machine.
func TestContainerOfServerJSON(t *testing.T) {
	t.Setenv("OF_THIS_MACHINE", "private")
	read := func(text string) (Launched, error) {
		var s serverJSON
		if err := json.Unmarshal([]byte(`{"packages": [{"registryType": "oci", `+text+`}]}`), &s); err != nil {
			t.Fatal(err)
		}
		return s.launch()
	}
	l, err := read(`"identifier": "docker.io/mcp/filesystem:1.0.2", "packageArguments": [{"type": "positional", "value": "/project"}],
		"runtimeArguments": [{"type": "named", "name": "--mount", "value": "type=bind,src={source},dst={target}", "variables": {
			"source": {"format": "filepath", "isRequired": true}, "target": {"default": "/project"}}},
			{"type": "named", "name": "-e", "value": "API_TOKEN={t}", "variables": {"t": {"isSecret": true}}}, {"type": "named", "name": "-e", "value": "OF_THIS_MACHINE"}],
		"environmentVariables": [{"name": "MODE", "value": "fast"}]`)
	c := l.Container
	if err != nil || l.String() != "oci:docker.io/mcp/filesystem:1.0.2" || !slices.Equal(l.Secrets, []string{"API_TOKEN"}) || !slices.Equal(l.Env, []string{"MODE=fast"}) ||
		!slices.Equal(l.Arguments, []string{"/project"}) || !slices.Equal(c.Volumes, []string{"/project"}) || c.Env != nil {
		t.Errorf("%+v, container %+v (%v)", l, c, err)
	}
	if l, err := read(`"identifier": "a/b", "version": "1.2", "registryBaseUrl": "https://ghcr.io"`); err != nil || l.Name != "ghcr.io/a/b:1.2" {
		t.Errorf("with a base URL: %s (%v)", l.Name, err)
	}
	for text, want := range map[string]string{
		`"identifier": "./layout"`:     "invalid name",
		`"identifier": "--privileged"`: "invalid name",
		`"identifier": "a\u001b[2J"`:   "invalid name",
		`"identifier": "a", "runtimeArguments": [{"type": "named", "name": "--env-file=/x/.env"}]`: "a file of this machine",
		`"identifier": "a", "runtimeArguments": [{"type": "named", "name": "--nonsense"}]`:         "unknown flag",
	} {
		if l, err := read(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %+v, %v; want %s", text, l, err, want)
		}
	}
}
