// Package published installs MCP servers from public registries, at pinned versions, for the
// commands that measure real servers (test/eval, test/realservers). No test uses it, as
// it needs the network.
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
	"slices"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/packages"
)

// installTimeout bounds the installation of one server.
const installTimeout = 5 * time.Minute

// Server is a published server.
type Server struct {
	// Source is the package with its version: "name@1.2.3", for PyPI "name==1.2.3".
	Source string
	// Args and Env are for its program. Keys in them are invalid.
	Args, Env []string

	// registry is one of runner/packages, or gomod.
	registry packages.Registry
	// program names the server among the package's programs; empty for the only one.
	program string
}

// gomod stands for Go modules, which are built from source.
const gomod packages.Registry = "go"

// NPM returns a server of the npm registry.
func NPM(source string, args ...string) Server {
	return Server{Source: source, Args: args, registry: packages.NPM}
}

// PyPI returns a server of the Python Package Index.
func PyPI(source string, args ...string) Server {
	return Server{Source: source, Args: args, registry: packages.PyPI}
}

// Go returns the server of a Go package, at a version of its module.
func Go(source string) Server { return Server{Source: source, registry: gomod} }

// With adds variables as NAME=VALUE.
func (s Server) With(env ...string) Server {
	s.Env = append(s.Env[:len(s.Env):len(s.Env)], env...)
	return s
}

// Runs names the server's program in packages with several.
func (s Server) Runs(program string) Server {
	s.program = program
	return s
}

// Name returns the package without its version.
func (s Server) Name() string {
	if name, _, ok := strings.Cut(s.Source, "=="); ok {
		return name
	}
	return s.Source[:strings.LastIndex(s.Source, "@")]
}

// Key returns the source as a file name.
func (s Server) Key() string {
	return strings.NewReplacer("/", "_", "@", "_", "==", "_").Replace(s.Source)
}

// Package returns the arguments by which mcpaudit installs the server itself: with install scripts, and with an older
// library where it needs one. It is nil for a server in Go.
func (s Server) Package() []string {
	if s.registry == gomod {
		return nil
	}
	var program []string
	if s.program != "" {
		program = []string{"--program", s.program}
	}
	return slices.Concat(program, []string{string(s.registry) + ":" + s.Source}, s.Args)
}

// Install installs the server in its own directory below dir unless it is there, and returns its
// command and environment. It runs no install scripts.
func (s Server) Install(ctx context.Context, dir string) (command, env []string, err error) {
	if dir, err = filepath.Abs(filepath.Join(dir, s.Key())); err != nil {
		return nil, nil, err
	}
	done := filepath.Join(dir, ".installed") // with the command
	if said, err := os.ReadFile(done); err != nil || json.Unmarshal(said, &command) != nil {
		ctx, cancel := context.WithTimeout(ctx, installTimeout)
		defer cancel()
		if err := os.RemoveAll(dir); err != nil { // leftovers of a failed installation
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

// LastLine returns the last line of a program's output that is not empty, at most 200 bytes.
func LastLine(said []byte) string {
	lines := bytes.Split(bytes.TrimSpace(said), []byte("\n"))
	line := strings.ToValidUTF8(string(lines[len(lines)-1]), "?")
	return line[:min(len(line), 200)]
}
