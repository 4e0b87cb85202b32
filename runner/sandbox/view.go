package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/places"
)

// view decides what of the machine's files the server sees. It is pure: mount.go
// carries it out.
//
// The server sees the machine, for it was installed on it, but a directory that
// a rule covers shows only what the rule names. The rules leave out what belongs
// to people: hidden entries of the home (settings, keys, history) except those
// of language runtimes, other homes, temporary files, sockets.
type view struct {
	home   string
	mounts []mountPoint
	// keep lists paths that stay visible though a rule would hide them: the
	// working directory and what the command names.
	keep []string
	// apart are paths that are treated by themselves.
	apart []string
	rules map[string]rule
	// decoys are the paths where decoy files will stand.
	decoys []string
}

// rule reports whether an entry of its directory is shown.
type rule func(name string) bool

type treatment int

const (
	hide    treatment = iota // not there
	whole                    // shown with all that is below it; changes vanish
	descend                  // our own directory; each entry is treated by itself
	empty                    // our own empty directory
	special                  // /proc, /dev and /sys, each in its own way
)

// runtimes are the entries of a home, of ~/.config and so on, where language
// runtimes, package managers and the programs installed with them live.
var runtimes = map[string][]string{
	"": {
		".asdf", ".bun", ".conda", ".deno", ".dotnet", ".fnm", ".ghcup", ".jenv", ".juliaup", ".linuxbrew",
		".mise", ".nix-defexpr", ".nix-profile", ".node_modules", ".npm", ".npm-global", ".npm-packages", ".nvm",
		".pnpm-store", ".pyenv", ".rbenv", ".rustup", ".sdkman", ".venv", ".virtualenvs", ".volta", ".yarn",
	},
	".cache": {
		"bun", "corepack", "deno", "electron", "go-build", "ms-playwright", "node", "node-gyp", "npm", "pip",
		"pnpm", "pypoetry", "puppeteer", "pre-commit", "typescript", "uv", "virtualenv", "yarn", "fontconfig",
	},
	".cargo":          {"bin"},
	".config":         {},
	".dotnet":         {"dotnet", "host", "metadata", "packs", "sdk", "sdk-manifests", "shared", "templates", "tools"}, // and not corefx, with keys
	".local":          {"bin", "lib", "lib64", "pipx"},
	".local/share":    {"fnm", "mise", "pipx", "pnpm", "pypoetry", "uv", "virtualenv", "virtualenvs"},
	".local/share/uv": {"python", "tools"}, // and not credentials ("uv auth login")
	".local/state":    {},
}

// hidden are directories of other programs' state: nothing below them is part
// of a server, and all of it is worth stealing.
var hidden = []string{
	"/etc/kubernetes", "/etc/letsencrypt", "/etc/ppp", "/etc/rancher", "/lost+found", "/var/lib/containerd",
	"/var/lib/containers", "/var/lib/docker", "/var/lib/etcd", "/var/lib/k0s", "/var/lib/kubelet",
	"/var/lib/rancher", "/var/spool",
}

// masked are files that only root may read; a server without capabilities that
// runs as uid 0 owns them still. They read as empty.
var masked = []string{
	"/etc/gshadow", "/etc/gshadow-", "/etc/krb5.keytab", "/etc/shadow", "/etc/shadow-",
	"/etc/ssh/ssh_host_*_key", "/etc/ssl/private", "/etc/sudoers", "/etc/sudoers.d", "/etc/wireguard",
	"/etc/NetworkManager/system-connections",
}

// newView makes the rules for a server whose home is home and whose command
// names the paths in keep.
func newView(home string, mounts []mountPoint, keep, decoys []string) view {
	v := view{home: home, mounts: mounts, keep: keep, decoys: decoys, rules: map[string]rule{
		"/":            visible(only(runtimes[""]...)), // without what container engines leave there (.dockerenv)
		"/var/run":     none,                           // a link to /run, nearly everywhere
		"/home":        none,
		"/run":         only("current-system", "booted-system", "opengl-driver", "systemd", "resolvconf", "NetworkManager"),
		"/run/systemd": only("resolve"),
	}}
	for _, temp := range tempDirs {
		v.rules[temp] = none
		for _, kept := range keep {
			v.narrow(kept, temp)
		}
	}
	v.protect(home)
	v.protect("/root")
	for _, kept := range keep { // in somebody else's home, as under sudo
		if below, ok := strings.CutPrefix(kept, "/home/"); ok {
			name, _, _ := strings.Cut(below, "/")
			v.protect(filepath.Join("/home", name))
		}
	}
	return v
}

// protect reduces a home to its visible files and the language runtimes in it.
func (v view) protect(home string) {
	for below, names := range runtimes {
		shown := only(names...)
		if below == "" {
			shown = visible(shown)
		}
		v.rules[filepath.Join(home, below)] = shown
	}
}

// tempDirs are shared directories for temporary files. The server has small ones of its own,
// which show only what its command names: they disclose nothing about the user, and are the
// same on every machine.
var tempDirs = []string{"/tmp", "/var/tmp"}

// narrow reduces the directories between one for temporary files and a kept path to that
// path.
func (v view) narrow(kept, temp string) {
	for dir := filepath.Dir(kept); places.Below(dir, temp); dir = filepath.Dir(dir) {
		if !slices.ContainsFunc(v.keep, func(k string) bool { return k == dir || places.Below(dir, k) && places.Below(k, temp) }) {
			v.rules[dir] = none
		}
	}
}

func none(string) bool { return false }

func only(names ...string) rule {
	return func(name string) bool { return slices.Contains(names, name) }
}

// visible shows what is not hidden, and the hidden entries that also names.
func visible(also rule) rule {
	return func(name string) bool { return !strings.HasPrefix(name, ".") || also(name) }
}

// treat decides about a path whose parent was treated as descend.
func (v view) treat(path string) treatment {
	if m, ok := v.mountAt(path); ok && !m.holdsFiles() {
		if slices.Contains([]string{"/proc", "/sys", "/dev"}, path) {
			return special
		}
		return empty
	}
	switch {
	case slices.Contains([]string{"/proc", "/sys", "/dev"}, path):
		return special
	case slices.Contains(hidden, path):
		return empty
	case !v.shown(path):
		return hide
	case v.partial(path):
		return descend
	default:
		return whole
	}
}

// shown asks the rule of the directory that path is in. Directories that have a
// rule themselves, and those on the way to one, are always there.
func (v view) shown(path string) bool {
	shows, ruled := v.rules[filepath.Dir(path)]
	if !ruled || shows(filepath.Base(path)) || path == v.home || places.Below(v.home, path) {
		return true
	}
	if v.partialByRule(path) {
		return true
	}
	if slices.ContainsFunc(v.decoys, func(c string) bool { return places.Within(c, path) }) {
		return false // a decoy stands there, whatever the command names
	}
	return slices.ContainsFunc(v.keep, func(kept string) bool { return places.Within(kept, path) })
}

// hides reports whether the rules leave a path out, by itself or with a directory that it
// is in.
func (v view) hides(path string) bool {
	for at := path; at != "/" && at != "."; at = filepath.Dir(at) {
		if how := v.treat(at); how == hide || how == empty {
			return true
		}
	}
	return false
}

// partial reports whether something below path (or path itself) needs to be
// treated by itself.
func (v view) partial(path string) bool {
	return v.partialByRule(path) || !v.theirs(path) && slices.ContainsFunc(v.apart, func(a string) bool { return places.Below(a, path) }) || slices.ContainsFunc(hidden, func(h string) bool { return places.Below(h, path) }) ||
		slices.ContainsFunc(v.mounts, func(m mountPoint) bool { return places.Below(m.path, path) })
}

func (v view) partialByRule(path string) bool {
	for ruled := range v.rules {
		if places.Within(ruled, path) {
			return true
		}
	}
	return false
}

func (v view) mountAt(path string) (mountPoint, bool) {
	i := slices.IndexFunc(v.mounts, func(m mountPoint) bool { return m.path == path })
	if i < 0 {
		return mountPoint{}, false
	}
	return v.mounts[i], true
}
