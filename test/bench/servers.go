package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"

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

// opensName is the server that only opens files.
const opensName = "openat x 1000"

var recipes = []recipe{{"go", goServer}, {"node", nodeServer}, {"python", pythonServer}, {opensName, openServer}}

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
	cache, err := command.Cache("bench")
	if err != nil {
		return launch{}, err
	}
	modules, err := command.NodeModules(ctx, cache, filepath.Join(sources, "node"))
	if err != nil {
		return launch{}, err
	}
	if err := copySources(dir); err != nil {
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
	cache, err := command.Cache("bench")
	if err != nil {
		return launch{}, err
	}
	packages, err := command.PythonPackages(ctx, cache, filepath.Join(sources, "python", "requirements.txt"))
	if err != nil {
		return launch{}, err
	}
	if err := copySources(dir); err != nil {
		return launch{}, err
	}
	return launch{command: []string{command.Python, "python/honest.py"}, env: []string{"PYTHONPATH=" + packages}, dir: dir}, nil
}

// copySources keeps what an interpreter writes beside its sources out of the tree.
func copySources(dir string) error { return os.CopyFS(dir, os.DirFS(sources)) }
