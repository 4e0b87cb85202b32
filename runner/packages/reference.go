package packages

import (
	"fmt"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// Registry is a registryType of the MCP registry's server.json.
type Registry string

// The registries that packages come from.
const (
	NPM  Registry = "npm"
	PyPI Registry = "pypi"
	// MCPB stands for bundles, which are named by a file or its URL.
	MCPB Registry = "mcpb"
	// MCPRegistry lists servers with their packages: see Resolve.
	MCPRegistry Registry = "registry"
	// OCI stands for container images: see Container.
	OCI Registry = "oci"
)

// Package names a package of a registry.
type Package struct {
	Registry Registry
	Name     string
	// Version is one, of npm also a tag; "" is the newest.
	Version string
	// SHA256 of the file of a bundle, in hexadecimal; "" where any will do.
	SHA256 string
	// Besides has further requirements, of PyPI, which hold an older version of a dependency: see Installed.Older.
	Besides string
}

// The forms of names and versions, none of which an installer reads as a flag, a path or a URL.
var (
	npmName     = lazyregexp.New(`^(?:@[A-Za-z0-9~-][A-Za-z0-9._~-]*/)?[A-Za-z0-9~][A-Za-z0-9._~-]*$`) // docs.npmjs.com, package.json, name
	pypiName    = lazyregexp.New(`^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$`)                       // PEP 508, Names
	serverName  = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9.-]*/[A-Za-z0-9][A-Za-z0-9._-]*$`)             // server.json, name
	imageName   = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._:/@-]*$`)                                    // of a registry, no flag and no path
	versionForm = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9.+!_-]*$`)
)

// Parse reads "npm:NAME[@VERSION]", "pypi:NAME[==VERSION]", "registry:NAME[@VERSION]", "mcpb:FILE" or "oci:IMAGE"; false: it is no reference to a package.
func Parse(reference string) (Package, bool, error) {
	registry, rest, _ := strings.Cut(reference, ":")
	p := Package{Registry: Registry(registry), Name: rest}
	versioned := false
	var form *lazyregexp.Regexp
	switch p.Registry {
	case NPM, MCPRegistry:
		form = map[Registry]*lazyregexp.Regexp{NPM: npmName, MCPRegistry: serverName}[p.Registry]
		if i := strings.LastIndex(rest, "@"); i > 0 {
			p.Name, p.Version, versioned = rest[:i], rest[i+1:], true
		}
	case PyPI:
		form = pypiName
		p.Name, p.Version, versioned = strings.Cut(rest, "==")
	case MCPB, OCI:
		if rest == "" {
			return Package{}, true, fmt.Errorf("package %q: no name (want %s)", reference, forms[p.Registry])
		}
		return p, true, nil
	default:
		return Package{}, false, nil
	}
	if !form.MatchString(p.Name) {
		return Package{}, true, fmt.Errorf("package %q: invalid name (want %s)", reference, forms[p.Registry])
	}
	if versioned && !versionForm.MatchString(p.Version) {
		return Package{}, true, fmt.Errorf("package %q: invalid version (want %s)", reference, forms[p.Registry])
	}
	return p, true, nil
}

var forms = map[Registry]string{NPM: "npm:NAME or npm:NAME@VERSION", PyPI: "pypi:NAME or pypi:NAME==VERSION", MCPRegistry: "registry:NAMESPACE/NAME or registry:NAMESPACE/NAME@VERSION",
	MCPB: "mcpb:FILE or mcpb:https://...", OCI: "oci:NAME, oci:NAME:TAG, oci:NAME@sha256:DIGEST or oci:./PATH"}

// String returns the reference that Parse reads.
func (p Package) String() string { return string(p.Registry) + ":" + p.spec() }

// spec returns the reference that the registry's installer reads.
func (p Package) spec() string {
	if p.Version == "" {
		return p.Name
	}
	return p.Name + map[Registry]string{NPM: "@", PyPI: "==", MCPRegistry: "@"}[p.Registry] + p.Version
}

// normal returns a name in the form that the registry compares (PEP 503, Normalized Names).
func normal(r Registry, name string) string {
	if r == NPM {
		return name
	}
	return strings.ToLower(separators.ReplaceAllString(name, "-"))
}

var separators = lazyregexp.New(`[-_.]+`)
