package main

import (
	"context"
	"fmt"
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
	packages, err := installed("node", "package-lock.json", func(dir string) error {
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(sources, "node"))); err != nil {
			return err
		}
		_, err := command.Output(ctx, dir, "npm", "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
		return err
	})
	if err != nil {
		return launch{}, err
	}
	if err := copySources(dir); err != nil {
		return launch{}, err
	}
	if err := os.Symlink(filepath.Join(packages, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		return launch{}, err
	}
	return launch{command: []string{node, "node/honest.js"}, dir: dir}, nil
}

// python is Debian's own: one of a version manager may be a script that starts other programs.
const python = "/usr/bin/python3"

func pythonServer(ctx context.Context, dir string) (launch, error) {
	if _, err := os.Stat(python); err != nil {
		return launch{}, err
	}
	packages, err := installed("python", "requirements.txt", func(dir string) error {
		_, err := command.Output(ctx, "", python, "-m", "pip", "install", "--quiet", "--no-warn-script-location", "--only-binary=:all:",
			"--root-user-action=ignore", "--disable-pip-version-check", "--target", dir, "--requirement", filepath.Join(sources, "python", "requirements.txt"))
		return err
	})
	if err != nil {
		return launch{}, err
	}
	if err := copySources(dir); err != nil {
		return launch{}, err
	}
	return launch{command: []string{python, "python/honest.py"}, env: []string{"PYTHONPATH=" + packages}, dir: dir}, nil
}

// copySources keeps what an interpreter writes beside its sources out of the tree.
func copySources(dir string) error { return os.CopyFS(dir, os.DirFS(sources)) }

// installed returns the packages of a runtime, installed by this run or by an earlier one with
// the same lock file.
func installed(runtime, lock string, install func(dir string) error) (string, error) {
	key, err := command.Digest(filepath.Join(sources, runtime, lock))
	if err != nil {
		return "", fmt.Errorf("run from the top of the tree: %w", err)
	}
	cache, err := command.Cache("bench")
	if err != nil {
		return "", err
	}
	return command.Installed(cache, runtime, key, install)
}
