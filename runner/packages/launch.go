package packages

import (
	"cmp"
	"encoding/json"
	"path"
	"path/filepath"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/pkgmanager"
)

// Launched is a package that a command such as npx or uvx installs and starts.
type Launched struct {
	Package
	// Program is one of the package's; "" for the one that the command chooses.
	Program   string
	Arguments []string
	// Env ("NAME=value") is set when it is started, and Secrets are names of variables that are set to the user's secrets.
	Env, Secrets []string
	// Container has the image of OCI; nil for any other package. Arguments are its own.
	Container *Container
	// ServerJSON is the package's entry in the MCP registry; nil if it was not found by one.
	ServerJSON json.RawMessage
}

// Launch reads a command line that runs one package of a registry by its name, or a container of an image; false for any
// other, such as an npx that finds the program below the working directory.
func Launch(command []string, dir string) (Launched, bool, error) {
	if c, ok, err := readContainer(command); ok {
		return c.Launched(), true, err
	}
	l, ok := pkgmanager.Launches(command)
	if !ok || !l.Sure {
		return Launched{}, false, nil
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
	return launched, err == nil && (l.Registry == pkgmanager.PyPI || !linked(launched, dir)), nil
}

// linked reports whether npx finds the program among those of a project.
func linked(l Launched, dir string) bool {
	program := cmp.Or(l.Program, path.Base(l.Name))
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if exists(filepath.Join(dir, "node_modules", ".bin", program)) {
			return true
		}
	}
	return exists(filepath.Join(dir, "node_modules", ".bin", program))
}
