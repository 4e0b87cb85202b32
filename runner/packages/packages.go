// Package packages installs MCP servers by their package names, as npx and
// uvx do, from the registry that the machine's npm or pip is configured for, and MCP Bundles. No code of a package runs
// while it is installed.
package packages

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// timeout bounds an installation.
const timeout = 10 * time.Minute

// Installed is a package with all that it needs, in a directory.
type Installed struct {
	// Report describes it in the report of the audit.
	Report report.Package
	// Scripts are the install scripts in the order in which the registry's installer runs them. They were not run.
	Scripts []Script
	// Env ("NAME=value") holds the variables that a bundle sets, and Secrets the names of those that it sets to the user's
	// secrets.
	Env     []string
	Secrets []string
	// programs are the commands of the package by their names.
	programs map[string][]string
	locked   []locked
}

// Script is an install script of a package.
type Script struct {
	// Of names the package and the script: "esbuild@0.25.0 (postinstall)".
	Of string
	// Dir is the working directory of Command, Env ("NAME=value") its additional environment.
	Dir     string
	Command []string
	Env     []string
	// Optional: if the script fails, the package is left out and the installation goes on.
	Optional bool
}

// locked is an installed package.
type locked struct {
	name, version string
	// digest of the archive, in the registry's notation.
	digest string
}

// Install creates a directory and installs a package into it.
func (p Package) Install(ctx context.Context, dir string) (Installed, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Installed{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	install := map[Registry]func(context.Context, Package, string) (Installed, []locked, error){NPM: installNPM, PyPI: installPyPI, MCPB: installBundle}[p.Registry]
	i, all, err := install(ctx, p, dir)
	if err != nil {
		return Installed{}, fmt.Errorf("install %s: %w", p, err)
	}
	p.Name = cmp.Or(i.Report.Identifier, p.Name)
	i.Report, i.locked = p.report(all), all
	for _, s := range i.Scripts {
		i.Report.Scripts = append(i.Report.Scripts, s.Of)
	}
	return i, nil
}

// report describes what was installed: the package's own version is among them.
func (p Package) report(all []locked) report.Package {
	r := report.Package{RegistryType: string(p.Registry), Identifier: p.Name, Count: len(all)}
	var lines []string
	for _, l := range all {
		if normal(p.Registry, l.name) == normal(p.Registry, p.Name) {
			r.Version = cmp.Or(r.Version, l.version)
		}
		lines = append(lines, fmt.Sprintf("%q %q %q\n", l.name, l.version, l.digest))
	}
	slices.Sort(lines) // npm installs one version in several places
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(lines), "")))
	r.LockDigest = "sha256:" + hex.EncodeToString(sum[:])
	return r
}

// nearest returns the only name that shares the longest beginning with a package's, at least half of it; "" for none.
func nearest(own string, names []string) (best string) {
	most := len(own)/2 - 1
	for _, name := range names {
		shared := 0
		for shared < min(len(own), len(name)) && own[shared] == name[shared] {
			shared++
		}
		switch {
		case shared > most:
			most, best = shared, name
		case shared == most:
			best = ""
		}
	}
	return best
}

// Command returns the command line of a program of the package; for "" that of the program that npx and uvx start:
// the only one, or the one with the name of the package; or else the one whose name comes nearest to that.
func (i Installed) Command(program string) ([]string, error) {
	names := slices.Sorted(maps.Keys(i.programs))
	_, own, _ := strings.Cut("/"+i.Report.Identifier, "/")
	own = own[strings.LastIndex(own, "/")+1:]
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("package %s has no program to start", i.Report.Identifier)
	case program == "" && len(names) == 1:
		program = names[0]
	case program == "" && i.programs[own] != nil:
		program = own
	case program == "":
		program = nearest(own, names)
	}
	if command := i.programs[program]; command != nil {
		return command, nil
	}
	if program == "" {
		return nil, fmt.Errorf("package %s has several programs: say which one by --program: %s", i.Report.Identifier, strings.Join(names, ", "))
	}
	return nil, fmt.Errorf("--program: package %s has no program %q (want one of %s)", i.Report.Identifier, program, strings.Join(names, ", "))
}

// Dir returns a new directory name in a user's home where npx, uvx or a client could have installed a package: the server
// sees it, and it does not give the audit away.
func (p Package) Dir(home string) string {
	name := make([]byte, 8)
	_, _ = rand.Read(name) // it never fails (crypto/rand)
	above := map[Registry]string{NPM: ".npm/_npx", PyPI: ".cache/uv/archive-v0", MCPB: ".local/lib/extensions"}[p.Registry]
	return filepath.Join(home, above, hex.EncodeToString(name))
}
