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

// Registry tells of a capture that went to a registry of packages: its name, and whether no more was
// asked than which versions there are of one. What brought no request, or asked for a name, says neither. It is "" for other captures.
func (c Capture) Registry() (host string, versionsOnly bool) {
	if c.Size == 0 || c.Named == "" || c.Protocol == "dns" || !slices.ContainsFunc(RegistriesOf([]string{"npm", "pip"}).Absent, func(domain string) bool {
		return c.Named == domain || strings.HasSuffix(c.Named, "."+domain)
	}) {
		return "", false
	}
	return c.Named, c.Host == c.Named && !c.Opaque && versions.MatchString(c.Request)
}
