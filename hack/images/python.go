package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/mcpaudit/mcpaudit/hack/images/oci"
	"github.com/mcpaudit/mcpaudit/test/command"
)

// unneeded are parts of the standard library that no server uses.
var unneeded = []string{"test", "idlelib", "lib2to3", "tkinter", "turtledemo", "ensurepip", "pydoc_data", "distutils", "__pycache__"}

// pythonServer returns the recipe of a Python server, whose entrypoint is absolute.
func pythonServer(name string) func(context.Context, *workshop) (v1.Image, error) {
	return func(ctx context.Context, w *workshop) (v1.Image, error) {
		tree, err := w.pythonTree(ctx)
		if err != nil {
			return nil, err
		}
		script := "python/" + name + ".py"
		config := oci.Config{Entrypoint: []string{command.Python, "/app/" + script}, User: nonroot}
		return w.image(config, base(), tree, w.app("python/notes.py", script))
	}
}

// pythonTree returns the interpreter with its libraries, its standard library, and the packages
// of requirements.txt in Debian's folder for local packages.
func (w *workshop) pythonTree(ctx context.Context) (*oci.Tree, error) {
	out, err := command.Output(ctx, "", command.Python, "-c",
		"import os,sys,sysconfig; print(os.path.realpath(sys.executable), sysconfig.get_path('stdlib'), *sys.version_info[:3])")
	if err != nil {
		return nil, err
	}
	facts := strings.Fields(out)
	if len(facts) != 5 {
		return nil, fmt.Errorf("read what python consists of: %q", out)
	}
	program, library := facts[0], facts[1]
	packages := "/usr/local/lib/python" + strings.Join(facts[2:4], ".") + "/dist-packages"
	requirements := filepath.Join(w.root, "test/servers/python/requirements.txt")
	key, err := command.Digest(requirements)
	if err != nil {
		return nil, err
	}
	dir, err := command.Installed(w.cache, "python"+strings.Join(facts[2:], "."), key, func(dir string) error {
		return installPython(ctx, dir, library, packages, requirements)
	})
	if err != nil {
		return nil, err
	}
	t := oci.NewTree()
	t.Copy(program, program)
	if program != command.Python {
		t.Symlink(command.Python, path.Base(program))
	}
	t.CopyAll("/", dir, nil)
	modules, err := sharedObjects(dir)
	if err != nil {
		return nil, err
	}
	t.CopyLibraries(ctx, append(modules, program)...)
	return t, nil
}

// installPython installs the standard library and the packages below dir. It compiles them
// without time checks: with these, the bytecode would be stale in an image, and each start
// would compile everything again.
func installPython(ctx context.Context, dir, library, packages, requirements string) error {
	if err := copyLibrary(dir+library, library); err != nil {
		return err
	}
	if err := command.Pip(ctx, dir+packages, requirements, "--no-compile"); err != nil {
		return err
	}
	if _, err := command.Output(ctx, "", command.Python, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", "-s", dir, "-p", "/", dir); err != nil {
		return err
	}
	return os.RemoveAll(dir + packages + "/bin")
}

// copyLibrary copies the standard library without its unneeded parts.
func copyLibrary(target, library string) error {
	return filepath.WalkDir(library, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(library, file)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && (slices.Contains(unneeded, d.Name()) || strings.HasPrefix(d.Name(), "config-")):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(target, rel), 0o755)
		case !d.Type().IsRegular():
			return nil // a link into /etc
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(target, rel), content, 0o644)
	})
}

// sharedObjects lists the extension modules below dir.
func sharedObjects(dir string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && (strings.HasSuffix(file, ".so") || strings.Contains(d.Name(), ".so.")) {
			found = append(found, file)
		}
		return err
	})
	return found, err
}
