package sinkhole

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/pkgmanager"
)

// Registries say what the launchers of packages (npx, uvx, ...) depend on. In a
// closed network they start what is installed or cached, if they are quick to
// see that nobody is there.
type Registries struct {
	// Absent are domains that must not resolve: a launcher would believe what it
	// is answered there, and does not give up soon where nothing answers.
	Absent []string
	// Env tells the launchers to be content with what they have.
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

// RegistriesOf finds the package managers in a command, be it in a script of a shell.
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

// versions finds requests for which versions there are of a package, in npm and in PyPI: what those who look for
// an update of themselves ask.
var versions = lazyregexp.New(`^GET /(?:pypi/[\w.-]{1,64}/json|simple/[\w.-]{1,64}/|(?:-/package/)?(?:@[\w.-]{1,64}(?:/|%2[Ff]))?[\w.-]{1,64}(?:/latest|/dist-tags)?) HTTP/[\d.]+$`)

// maxQuestion bounds the request of who only asks for versions, in bytes with its headers.
const maxQuestion = 2 << 10

// Registry tells of a capture that went to a registry of packages: the host, and the request, where that asks
// which versions there are of one package, and nothing else. The host is "" for other captures, and where nothing was asked.
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
