package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/mcpaudit/mcpaudit/hack/images/oci"
)

// nodeServer returns the recipe of a server in Node. Its entrypoint is found
// by PATH, and its script in the working directory.
func nodeServer(name string) func(context.Context, *workshop) (v1.Image, error) {
	return func(ctx context.Context, w *workshop) (v1.Image, error) {
		runtime, err := nodeRuntime(ctx)
		if err != nil {
			return nil, err
		}
		modules, err := w.nodeModules(ctx)
		if err != nil {
			return nil, err
		}
		script := "node/" + name + ".js"
		app := w.app("node/package.json", "node/server.js", script)
		config := oci.Config{Entrypoint: []string{"node", script}, User: user, WorkingDir: "/app"}
		return w.image(config, base(), runtime, modules, app)
	}
}

// nodeRuntime is the machine's own Node with its libraries. Debian's keeps
// some of its built-in modules in files of their own and says which.
func nodeRuntime(ctx context.Context) (*oci.Tree, error) {
	out, err := output(ctx, "", "node", "-p",
		"JSON.stringify([process.execPath, ...(process.config.variables.node_builtin_shareable_builtins ?? [])])")
	if err != nil {
		return nil, err
	}
	var files []string
	if err := json.Unmarshal([]byte(out), &files); err != nil {
		return nil, fmt.Errorf("read what node consists of: %w", err)
	}
	t := oci.NewTree()
	t.Copy("/usr/bin/node", files[0])
	t.CopyLibraries(ctx, files[0])
	for _, module := range files[1:] {
		if path.IsAbs(module) { // else it is compiled in
			t.Copy(module, module)
		}
	}
	return t, nil
}

// nodeModules is what the lock file of the tests' servers asks for.
func (w *workshop) nodeModules(ctx context.Context) (*oci.Tree, error) {
	sources := filepath.Join(w.root, "test/servers/node")
	key, err := digest(filepath.Join(sources, "package.json"), filepath.Join(sources, "package-lock.json"))
	if err != nil {
		return nil, err
	}
	dir, err := w.installed("node", key, func(dir string) error {
		for _, f := range []string{"package.json", "package-lock.json"} {
			content, err := os.ReadFile(filepath.Join(sources, f))
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, f), content, 0o644); err != nil {
				return err
			}
		}
		cmd := exec.CommandContext(ctx, "npm", "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
		cmd.Dir, cmd.Stderr = dir, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("run npm ci: %w", err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	t := oci.NewTree()
	t.CopyAll("/app/node/node_modules", filepath.Join(dir, "node_modules"), func(rel string) bool {
		return rel == ".bin" || rel == ".package-lock.json" || strings.HasSuffix(rel, ".map") || strings.HasSuffix(rel, ".d.ts")
	})
	return t, nil
}

// digest identifies the content of files by 12 hexadecimal digits.
func digest(files ...string) (string, error) {
	sum := sha256.New()
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		_, _ = fmt.Fprintf(sum, "%d\n%s", len(content), content) // a hash takes everything
	}
	return hex.EncodeToString(sum.Sum(nil))[:12], nil
}
