// Package published has MCP servers of the public registries, at pinned versions,
// and installs them. The commands that measure on real servers (test/eval,
// test/realservers) call it; no test does, because it needs the network.
package published

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/packages"
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

	// registry is one of package packages, or gomod.
	registry packages.Registry
	// program is the name of the one that is the server; "" for the only one.
	program string
}

// gomod is the registry of Go's modules, whose programs are built of their sources.
const gomod packages.Registry = "go"

// NPM is a package of the npm registry.
func NPM(source string, args ...string) Server {
	return Server{Source: source, Args: args, registry: packages.NPM}
}

// PyPI is a package of the Python Package Index.
func PyPI(source string, args ...string) Server {
	return Server{Source: source, Args: args, registry: packages.PyPI}
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
	if dir, err = filepath.Abs(filepath.Join(dir, s.Key())); err != nil {
		return nil, nil, err
	}
	done := filepath.Join(dir, ".installed") // with the command
	if said, err := os.ReadFile(done); err != nil || json.Unmarshal(said, &command) != nil {
		ctx, cancel := context.WithTimeout(ctx, installTimeout)
		defer cancel()
		if err := os.RemoveAll(dir); err != nil { // the rest of an installation that failed
			return nil, nil, err
		}
		if command, err = s.install(ctx, dir); err != nil {
			return nil, nil, err
		}
		if said, err = json.Marshal(command); err != nil {
			return nil, nil, err
		}
		if err := os.WriteFile(done, said, 0o644); err != nil {
			return nil, nil, err
		}
	}
	return append(command, s.Args...), s.Env, nil
}

func (s Server) install(ctx context.Context, dir string) ([]string, error) {
	if s.registry == gomod {
		return s.installGo(ctx, dir)
	}
	p, _, err := packages.Parse(string(s.registry) + ":" + s.Source)
	if err != nil {
		return nil, err
	}
	installed, err := p.Install(ctx, dir)
	if err != nil {
		return nil, err
	}
	return installed.Command(s.program)
}

func (s Server) installGo(ctx context.Context, dir string) ([]string, error) {
	cmd := exec.CommandContext(ctx, "go", "install", s.Source)
	cmd.Env = append(os.Environ(), "GOBIN="+filepath.Join(dir, "bin"), "GOFLAGS=")
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go: %w: %s", err, LastLine(said))
	}
	return []string{filepath.Join(dir, "bin", path.Base(s.Name()))}, nil
}

// LastLine is the last line of what a program said that has anything in it.
func LastLine(said []byte) string {
	lines := bytes.Split(bytes.TrimSpace(said), []byte("\n"))
	line := strings.ToValidUTF8(string(lines[len(lines)-1]), "?")
	return line[:min(len(line), 200)]
}
