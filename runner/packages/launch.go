package packages

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/pkgmanager"
)

// Launched is a package that a command such as npx or uvx installs and starts.
type Launched struct {
	Package
	// Program names one of the package's; "" for the one that the command chooses.
	Program   string
	Arguments []string
	// Env ("NAME=value") is set by who starts it, and Secrets are names of variables that are set to secrets of the user's.
	Env, Secrets []string
	// ServerJSON is the entry of the MCP registry that it was found by; nil for another package.
	ServerJSON json.RawMessage
}

// Launch reads a command line; false where it runs no package by its name, or leads to something else than one package
// of a registry, as where npx finds the program below the working directory.
func Launch(command []string, dir string) (Launched, bool) {
	l, ok := pkgmanager.Launches(command)
	if !ok || !l.Sure {
		return Launched{}, false
	}
	named := l.Package
	if name, version, ok := strings.Cut(named, "@"); ok && l.Registry == pkgmanager.PyPI { // docs.astral.sh/uv, Tools
		named = name
		if version != "latest" {
			named += "==" + version
		}
	}
	of, _, err := Parse(string(l.Registry) + ":" + named)
	launched := Launched{Package: of, Program: l.Program, Arguments: l.Arguments}
	return launched, err == nil && (l.Registry == pkgmanager.PyPI || !linked(launched, dir))
}

// linked reports whether npx finds the program among those of a project.
func linked(l Launched, dir string) bool {
	program := l.Program
	if program == "" {
		program = path.Base(l.Name)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "node_modules", ".bin", program)); err == nil {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
		dir = filepath.Dir(dir)
	}
}
