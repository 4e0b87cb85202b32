package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/mcpaudit/mcpaudit/hack/images/oci"
	"github.com/mcpaudit/mcpaudit/test/command"
)

// nodeServer returns the recipe of a Node server whose entrypoint is found by PATH and its
// script in the working directory.
func nodeServer(name string) func(context.Context, *workshop) (v1.Image, error) {
	return func(ctx context.Context, w *workshop) (v1.Image, error) {
		script := "node/" + name + ".js"
		return w.nodeImage(ctx, "node", oci.Config{Entrypoint: []string{"node", script}}, w.app("node/package.json", "node/server.js", "node/stdio.js", script))
	}
}

// referenceServer returns the recipe of a published server of test/servers/reference, with args
// as its default command.
func referenceServer(name string, env []string, args ...string) func(context.Context, *workshop) (v1.Image, error) {
	return func(ctx context.Context, w *workshop) (v1.Image, error) {
		script := "/app/reference/node_modules/@modelcontextprotocol/server-" + name + "/dist/index.js"
		return w.nodeImage(ctx, "reference", oci.Config{Entrypoint: []string{"node", script}, Cmd: args, Env: env})
	}
}

// nodeImage packs trees on top of Node and the modules of a test server folder.
func (w *workshop) nodeImage(ctx context.Context, folder string, config oci.Config, trees ...*oci.Tree) (v1.Image, error) {
	runtime, err := nodeRuntime(ctx)
	if err != nil {
		return nil, err
	}
	modules, err := w.nodeModules(ctx, folder)
	if err != nil {
		return nil, err
	}
	config.User, config.WorkingDir = user, "/app"
	return w.image(config, append([]*oci.Tree{base(), runtime, modules}, trees...)...)
}

// builtin matches built-in modules that Debian's Node (--shared-builtin-*-path) reads from
// files at startup. Only the program itself lists them.
var builtin = regexp.MustCompile(`/usr/share/nodejs/[\w@./-]+\.js`)

// nodeRuntime returns the machine's Node with everything it loads.
func nodeRuntime(ctx context.Context) (*oci.Tree, error) {
	program, err := command.Output(ctx, "", "node", "-p", "process.execPath")
	if err != nil {
		return nil, err
	}
	libraries, err := oci.Libraries(ctx, program)
	if err != nil {
		return nil, err
	}
	t := oci.NewTree()
	t.Copy("/usr/bin/node", program)
	for _, file := range libraries {
		t.Copy(file, file)
	}
	for _, file := range append(libraries, program) {
		if !strings.Contains(filepath.Base(file), "node") { // node or libnode.so
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, module := range builtin.FindAll(content, -1) {
			if exists(string(module)) {
				t.Copy(string(module), string(module))
			}
		}
	}
	return t, nil
}

// nodeModules installs from the lock file of a test server folder.
func (w *workshop) nodeModules(ctx context.Context, folder string) (*oci.Tree, error) {
	modules, err := command.NodeModules(ctx, w.cache, filepath.Join(w.root, "test/servers", folder))
	if err != nil {
		return nil, err
	}
	t := oci.NewTree()
	t.CopyAll("/app/"+folder+"/node_modules", modules, func(rel string) bool {
		return rel == ".bin" || rel == ".package-lock.json" || strings.HasSuffix(rel, ".map") || strings.HasSuffix(rel, ".d.ts")
	})
	return t, nil
}
