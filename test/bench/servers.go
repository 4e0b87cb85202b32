package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/test/command"
)

// launch says how to start an honest server.
type launch struct {
	command []string
	env     []string // besides the environment of all servers
	dir     string
}

// recipe prepares the honest server of a runtime in a folder of this run. It fails if the machine
// lacks the runtime.
type recipe struct {
	name    string
	prepare func(ctx context.Context, dir string) (launch, error)
}

var recipes = []recipe{{"go", goServer}, {"node", nodeServer}, {"python", pythonServer}, {"openat x 1000", openServer}}

// sources has the servers; the program is run from the top of the tree.
const sources = "test/servers"

func goServer(ctx context.Context, dir string) (launch, error) {
	program := filepath.Join(dir, "honest")
	_, err := command.Output(ctx, "", "go", "build", "-o", program, "./"+sources+"/go/honest")
	return launch{command: []string{program}, dir: dir}, err
}

// nodeServer links the packages beside the sources, where Node looks for them.
func nodeServer(ctx context.Context, dir string) (launch, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return launch{}, err
	}
	modules, err := prepare(ctx, dir, command.NodeModules, "node")
	if err != nil {
		return launch{}, err
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		return launch{}, err
	}
	return launch{command: []string{node, "node/honest.js"}, dir: dir}, nil
}

func pythonServer(ctx context.Context, dir string) (launch, error) {
	if _, err := os.Stat(command.Python); err != nil {
		return launch{}, err
	}
	packages, err := prepare(ctx, dir, command.PythonPackages, "python/requirements.txt")
	if err != nil {
		return launch{}, err
	}
	return launch{command: []string{command.Python, "python/honest.py"}, env: []string{"PYTHONPATH=" + packages}, dir: dir}, nil
}

// prepare installs the packages that a file or a folder of the sources lists, and returns where. It copies the sources to
// dir, because interpreters write beside them.
func prepare(ctx context.Context, dir string, install func(ctx context.Context, cache, list string) (string, error), list string) (string, error) {
	cache, err := command.Cache("bench")
	if err != nil {
		return "", err
	}
	packages, err := install(ctx, cache, filepath.Join(sources, list))
	return packages, errors.Join(err, os.CopyFS(dir, os.DirFS(sources)))
}

// stageOpens runs this program as a server that opens a file opensPerCall times in each call.
const (
	stageOpens   = "bench-opens"
	opensPerCall = 1000
)

func openServer(_ context.Context, dir string) (launch, error) {
	self, err := os.Executable()
	return launch{command: []string{self, stageOpens}, dir: dir}, errors.Join(err, os.MkdirAll(dir, 0o755))
}

// opens implements stageOpens.
func opens([]string) error {
	s := mcpserver.NewMCPServer("opens", "1.0.0", mcpserver.WithToolCapabilities(false))
	s.AddTool(mcp.NewTool("open_files", mcp.WithDescription("Opens a file many times.")), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for range opensPerCall {
			fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return nil, err
			}
			if err := unix.Close(fd); err != nil {
				return nil, err
			}
		}
		return mcp.NewToolResultText("done"), nil
	})
	return mcpserver.ServeStdio(s)
}
