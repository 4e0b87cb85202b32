package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// launch is how an honest server is started.
type launch struct {
	command []string
	env     []string // besides what all servers get
	dir     string
}

// recipe prepares the honest server of a runtime in a directory of this run. The
// error says what the machine lacks.
type recipe struct {
	name    string
	prepare func(ctx context.Context, dir string) (launch, error)
}

// opensName is the server that opens files, and does nothing else.
const opensName = "openat x 1000"

var recipes = []recipe{{"go", goServer}, {"node", nodeServer}, {"python", pythonServer}, {opensName, openServer}}

// sources is where the servers are, in the module that this program is run in.
const sources = "test/servers"

func goServer(ctx context.Context, dir string) (launch, error) {
	program := filepath.Join(dir, "honest")
	err := execute(ctx, "", "go", "build", "-o", program, "./"+sources+"/go/honest")
	return launch{command: []string{program}, dir: dir}, err
}

// nodeServer puts the sources next to a link to the packages: Node looks for
// them in the folders above the file that asks.
func nodeServer(ctx context.Context, dir string) (launch, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return launch{}, err
	}
	lock := filepath.Join(sources, "node", "package-lock.json")
	packages, err := installed("node", lock, func(dir string) error {
		for _, file := range []string{"package.json", "package-lock.json"} {
			if err := copyFile(filepath.Join(dir, file), filepath.Join(sources, "node", file)); err != nil {
				return err
			}
		}
		return execute(ctx, dir, "npm", "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
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

// python is Debian's own: one that a version manager has put first in PATH may
// be a script, whose programs would be measured, too.
const python = "/usr/bin/python3"

func pythonServer(ctx context.Context, dir string) (launch, error) {
	if _, err := os.Stat(python); err != nil {
		return launch{}, err
	}
	requirements := filepath.Join(sources, "python", "requirements.txt")
	packages, err := installed("python", requirements, func(dir string) error {
		return execute(ctx, "", python, "-m", "pip", "install", "--quiet", "--no-warn-script-location", "--only-binary=:all:",
			"--root-user-action=ignore", "--disable-pip-version-check", "--target", dir, "--requirement", requirements)
	})
	if err != nil {
		return launch{}, err
	}
	if err := copySources(dir); err != nil {
		return launch{}, err
	}
	return launch{command: []string{python, "python/honest.py"}, env: []string{"PYTHONPATH=" + packages}, dir: dir}, nil
}

// copySources copies what the servers consist of, so that what an interpreter
// leaves beside them is not left in the tree.
func copySources(dir string) error { return os.CopyFS(dir, os.DirFS(sources)) }

func copyFile(target, source string) error {
	content, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	return os.WriteFile(target, content, 0o644)
}

// installed is a directory outside the tree that install has filled, now or in
// an earlier run with the same lock file.
func installed(name, lock string, install func(dir string) error) (string, error) {
	content, err := os.ReadFile(lock)
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("run from the top of the tree: %w", err)
	}
	if err != nil {
		return "", err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(content)
	dir := filepath.Join(cache, name+"-"+hex.EncodeToString(sum[:6]))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	scratch, err := os.MkdirTemp(cache, ".install-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(scratch) }() // gone when all went well
	if err := install(scratch); err != nil {
		return "", err
	}
	return dir, os.Rename(scratch, dir)
}

// cacheDir is a folder of our own in the Makefile's cache.
func cacheDir() (string, error) {
	if dir := os.Getenv("MCPAUDIT_CACHE"); dir != "" {
		return filepath.Join(dir, "bench"), nil
	}
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "mcpaudit", "bench"), err
}

// execute runs a command; when it fails, the error holds what it said.
func execute(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("run %s: %w: %s", filepath.Base(name), err, strings.TrimSpace(string(said)))
	}
	return nil
}
