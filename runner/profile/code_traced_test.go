package profile_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/codepath"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// codeOf returns the code paths of a program that runs under a tracer in a directory.
func codeOf(t *testing.T, dir string, argv ...string) []string {
	t.Helper()
	if _, err := exec.LookPath(argv[0]); err != nil {
		t.Fatalf("%v: hack/install.sh brings it", err)
	}
	cfg := trace.Config{File: filepath.Join(t.TempDir(), "trace")}
	wrapped := trace.Wrap(cfg, argv)
	cmd := exec.Command(wrapped[0], wrapped[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SHELL=/bin/sh", "PYTHONDONTWRITEBYTECODE=1")
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	session, err := trace.Follow(cfg)
	if err != nil {
		t.Fatal(err)
	}
	session.Ended()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var code profile.Code
	if err := session.Run(ctx, code.Add); err != nil {
		t.Fatal(err)
	}
	paths, ok := code.Paths(nil)
	if !ok {
		t.Fatal("the paths are not known")
	}
	return codepath.Reduce(paths)
}

// TestS16RealPrograms: a mount over what real runtimes load is found by their own traces,
// and one of settings or data is not.
func TestS16RealPrograms(t *testing.T) {
	app := filepath.Join(t.TempDir(), "app")
	for name, text := range map[string]string{
		"dist/server.js": "require('./tools/a'); require('m'); try { require('absent') } catch (e) {}; require('fs').readFileSync('../config.json')", "dist/tools/a.js": "", "config.json": "{}",
		"node_modules/m/package.json": `{"main": "i.js"}`, "node_modules/m/i.js": "", "package.json": "{}",
		"py/server.py": "import tools.a, json\nopen('config.json')", "py/tools/__init__.py": "", "py/tools/a.py": "",
		"bin/run": "#!/bin/sh\n. lib/a.sh\ncat config.json\n", "lib/a.sh": ":",
	} {
		file := filepath.Join(app, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		dir         string
		argv        []string
		code, other []string
	}{
		"Node.js":            {"dist", []string{"node", "server.js"}, []string{"dist", "dist/tools", "dist/tools/a.js", "node_modules/m", "package.json", ""}, []string{"data", "config.json"}},
		"Python":             {"", []string{"python3", "py/server.py"}, []string{"py", "py/json.py", "py/tools"}, []string{"data", "config.json"}},
		"a module of Python": {"py", []string{"python3", "-m", "tools.a"}, []string{"py", "py/json.py"}, []string{"data", "config.json"}},
		"a shell":            {"", []string{filepath.Join(app, "bin/run")}, []string{"bin/run", "lib/a.sh"}, []string{"data", "config"}},
		"a static program":   {"", []string{self, "-test.run=^$"}, []string{self}, []string{"data", "config.json"}},
	} {
		t.Run(name, func(t *testing.T) {
			paths := codeOf(t, filepath.Join(app, c.dir), c.argv...)
			in := func(name string) string {
				if strings.HasPrefix(name, "/") {
					return name
				}
				return filepath.Join(app, name)
			}
			for _, mount := range c.code {
				if codepath.Altered(in(mount), paths) == "" {
					t.Errorf("a mount at %q alters nothing of %q", mount, paths)
				}
			}
			for _, mount := range append(slices.Clone(c.other), "/etc/app/config.yaml", "/var/run/creds", "/data") {
				if code := codepath.Altered(in(mount), paths); code != "" {
					t.Errorf("a mount at %q alters %q", mount, code)
				}
			}
		})
	}
}
