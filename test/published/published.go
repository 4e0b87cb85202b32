// Package published has MCP servers of the public registries, at pinned versions,
// and installs them. The commands that measure on real servers (test/eval,
// test/realservers) call it; no test does, because it needs the network.
package published

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// installTimeout bounds the installation of one server.
const installTimeout = 5 * time.Minute

// Server is a published server.
type Server struct {
	// Source holds what its registry's client installs: "name@1.2.3", of PyPI
	// "name==1.2.3".
	Source string
	// Args of its program, and variables that it wants. Keys are no good.
	Args, Env []string

	registry registry
	// program is the name of the one that is the server; "" for the only one.
	program string
}

// registry installs into a directory and finds the server's program there.
type registry struct {
	install func(ctx context.Context, source, dir string) *exec.Cmd
	command func(s Server, dir string) ([]string, error)
}

var (
	npmjs = registry{install: installNPM, command: commandNPM}
	pypi  = registry{install: installPyPI, command: commandPyPI}
	gomod = registry{install: installGo, command: commandGo}
)

// NPM is a package of the npm registry.
func NPM(source string, args ...string) Server {
	return Server{Source: source, Args: args, registry: npmjs}
}

// PyPI is a package of the Python Package Index.
func PyPI(source string, args ...string) Server {
	return Server{Source: source, Args: args, registry: pypi}
}

// Go is the package of a program, at a version of its module.
func Go(source string) Server { return Server{Source: source, registry: gomod} }

// With adds variables, NAME=VALUE.
func (s Server) With(env ...string) Server {
	s.Env = append(s.Env[:len(s.Env):len(s.Env)], env...)
	return s
}

// Runs names the program that is the server, for packages with several.
func (s Server) Runs(program string) Server {
	s.program = program
	return s
}

// Name is the package without its version.
func (s Server) Name() string {
	if name, _, ok := strings.Cut(s.Source, "=="); ok {
		return name
	}
	return s.Source[:strings.LastIndex(s.Source, "@")]
}

// Key is the source as the name of a file.
func (s Server) Key() string {
	return strings.NewReplacer("/", "_", "@", "_", "==", "_").Replace(s.Source)
}

// Install brings the server into a directory of its own below dir, once, and
// returns its command and environment. No script of a package is run.
func (s Server) Install(ctx context.Context, dir string) (command, env []string, err error) {
	dir = filepath.Join(dir, s.Key())
	done := filepath.Join(dir, ".installed")
	command, err = s.registry.command(s, dir)
	if _, missing := os.Stat(done); missing != nil || err != nil {
		ctx, cancel := context.WithTimeout(ctx, installTimeout)
		defer cancel()
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, nil, err
		}
		cmd := s.registry.install(ctx, s.Source, dir)
		if said, err := cmd.CombinedOutput(); err != nil {
			return nil, nil, fmt.Errorf("%s: %w: %s", cmd.Args[0], err, lastLine(said))
		}
		if err := os.WriteFile(done, nil, 0o644); err != nil {
			return nil, nil, err
		}
		command, err = s.registry.command(s, dir)
	}
	return append(command, s.Args...), s.Env, err
}

func installNPM(ctx context.Context, source, dir string) *exec.Cmd {
	return exec.CommandContext(ctx, "npm", "install", "--prefix", dir, "--no-audit", "--no-fund", "--ignore-scripts", source)
}

func commandNPM(s Server, dir string) ([]string, error) {
	return s.programIn(filepath.Join(dir, "node_modules", s.Name()))
}

// programIn reads the package's program off its package.json.
func (s Server) programIn(dir string) ([]string, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return nil, err
	}
	var description struct{ Bin json.RawMessage }
	if err := json.Unmarshal(raw, &description); err != nil {
		return nil, err
	}
	var file string
	if json.Unmarshal(description.Bin, &file) == nil {
		return []string{"node", filepath.Join(dir, file)}, nil
	}
	var files map[string]string
	if json.Unmarshal(description.Bin, &files) != nil || len(files) == 0 {
		return nil, errors.New("the package has no program")
	}
	if len(files) > 1 && s.program == "" {
		return nil, fmt.Errorf("the package has several programs: %v", files)
	}
	for name, file := range files {
		if s.program == "" || name == s.program {
			return []string{"node", filepath.Join(dir, file)}, nil
		}
	}
	return nil, fmt.Errorf("the package has no program %s", s.program)
}

// installPyPI makes a virtual environment, as those who run such servers do: a variable
// that names the modules would make each audit Inconclusive (CodeLoaded).
func installPyPI(ctx context.Context, source, dir string) *exec.Cmd {
	const script = `/usr/bin/python3 -m venv --without-pip "$1/venv" && /usr/bin/python3 -m pip --python "$1/venv/bin/python" install --quiet \
		--disable-pip-version-check --root-user-action ignore --only-binary :all: "$2"`
	return exec.CommandContext(ctx, "sh", "-c", script, "install", dir, source)
}

// commandPyPI is the script that pip made of the package's entry point.
func commandPyPI(s Server, dir string) ([]string, error) {
	script := filepath.Join(dir, "venv", "bin", cmp.Or(s.program, s.Name()))
	_, err := os.Stat(script)
	return []string{filepath.Join(dir, "venv", "bin", "python"), script}, err
}

func installGo(ctx context.Context, source, dir string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", "install", source)
	cmd.Env = append(os.Environ(), "GOBIN="+filepath.Join(dir, "bin"), "GOFLAGS=")
	return cmd
}

func commandGo(s Server, dir string) ([]string, error) {
	return []string{filepath.Join(dir, "bin", filepath.Base(s.Name()))}, nil
}

// lastLine is the last line of what a program said that has anything in it.
func lastLine(said []byte) string {
	lines := bytes.Split(bytes.TrimSpace(said), []byte("\n"))
	line := strings.ToValidUTF8(string(lines[len(lines)-1]), "?")
	return line[:min(len(line), 200)]
}
