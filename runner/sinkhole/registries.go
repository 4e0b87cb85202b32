package sinkhole

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/pkgmanager"
)

// Registries make package launchers (npx, uvx, ...) work in a closed network: they start
// what is installed or cached if they learn at once that no registry answers.
type Registries struct {
	// Absent are domains that must not resolve: a launcher would believe answers from
	// there, and would wait long for none.
	Absent []string
	// Env makes the launchers use what is installed.
	Env []string
}

var registries = map[pkgmanager.Registry]Registries{
	pkgmanager.NPM: {
		Absent: []string{"npmjs.org", "npmjs.com", "yarnpkg.com", "npmmirror.com", "jsr.io"},
		Env:    []string{"npm_config_prefer_offline=true", "npm_config_fetch_retries=0", "npm_config_update_notifier=false"},
	},
	pkgmanager.PyPI: {
		Absent: []string{"pypi.org", "pythonhosted.org", "pypi.python.org", "astral.sh"},
		Env:    []string{"UV_OFFLINE=1", "PIP_RETRIES=0", "PIP_DISABLE_PIP_VERSION_CHECK=1"},
	},
}

// RegistriesOf finds the package managers in a command, also within a shell script.
func RegistriesOf(command []string) Registries {
	var all Registries
	separates := func(r rune) bool { return strings.ContainsRune(" \t\n;&|()'\"", r) }
	for _, argument := range command {
		for _, word := range strings.FieldsFunc(argument, separates) {
			manager, _ := pkgmanager.Of(word)
			if r, ok := registries[manager.Registry]; ok && !slices.Contains(all.Absent, r.Absent[0]) {
				all.Absent, all.Env = append(all.Absent, r.Absent...), append(all.Env, r.Env...)
			}
		}
	}
	return all
}

// versions matches requests for the versions of a package in npm or PyPI, as programs that look for updates of
// themselves send them.
var versions = lazyregexp.New(`^GET /(?:pypi/[\w.-]{1,64}/json|simple/[\w.-]{1,64}/|(?:-/package/)?(?:@[\w.-]{1,64}(?:/|%2[Ff]))?[\w.-]{1,64}(?:/latest|/dist-tags)?) HTTP/[\d.]+$`)

// maxQuestion bounds a request for versions, in bytes with its headers.
const maxQuestion = 2 << 10

// Registry returns the package registry that a capture went to, and its request if that only asks for the versions of
// one package. The host is "" for other captures and those without a request.
func (c Capture) Registry() (host, request string) {
	if c.Size == 0 || c.Named == "" || c.Protocol == "dns" || !slices.ContainsFunc(RegistriesOf([]string{"npm", "pip"}).Absent, func(domain string) bool {
		return c.Named == domain || strings.HasSuffix(c.Named, "."+domain)
	}) {
		return "", ""
	}
	if c.Host == c.Named && !c.Opaque && c.Size <= maxQuestion && versions.MatchString(c.Request) {
		return c.Named, c.Request
	}
	return c.Named, ""
}
