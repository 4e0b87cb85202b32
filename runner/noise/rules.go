package noise

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
	"github.com/mcpaudit/mcpaudit/runner/words"
)

// component reports whether a path has an element of that name.
func component(name, called string) bool {
	return strings.Contains(name, "/"+called+"/") || strings.HasSuffix(name, "/"+called)
}

// devices have no content: reading and writing them has no effect.
var devices = words.SetOf("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty",
	"/dev/stdin", "/dev/stdout", "/dev/stderr")

func isDevice(_ *Filter, a Access) bool {
	return devices[a.Path] || strings.HasPrefix(a.Path, "/memfd:")
}

// machine lists the files of the kernel and the distribution about the machine.
var machine = words.SetOf("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/version", "/proc/version_signature",
	"/proc/filesystems", "/proc/uptime", "/proc/loadavg", "/proc/mounts", "/etc/hostname", "/etc/os-release",
	"/etc/debian_version", "/etc/alpine-release", "/etc/lsb-release", "/etc/machine-info")

var kernel = []string{"/sys", "/proc/sys", "/proc/pressure"}

// isSelfInspection also covers changes of a process's own name and OOM score (proc_pid_comm(5),
// proc_pid_oom_score_adj(5)).
func isSelfInspection(_ *Filter, a Access) bool {
	if strings.HasPrefix(a.Path, "/proc/self/") || strings.HasPrefix(a.Path, "/proc/thread-self/") {
		return !a.Change || path.Base(a.Path) == "comm" || path.Base(a.Path) == "oom_score_adj"
	}
	return !a.Change && (machine[a.Path] || places.WithinAny(a.Path, kernel))
}

// system are the directories that belong to the packages of the distribution.
var system = []string{
	"/lib", "/lib32", "/lib64", "/libx32", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/local/lib",
	"/usr/local/lib64", "/usr/share", "/usr/local/share", "/usr/bin", "/bin", "/sbin", "/usr/sbin", "/usr/local/bin",
	"/usr/include", "/nix/store", "/snap",
}

var systemFiles = words.SetOf("/etc/mime.types", "/etc/inputrc", "/etc/shells", "/etc/issue", "/etc/magic")

func isSystem(_ *Filter, a Access) bool {
	return places.WithinAny(a.Path, system) || places.Within(a.Path, "/etc/alternatives") || systemFiles[a.Path]
}

// isLoader covers the files of ld.so, where it searches (ld.so(8)). A shared object elsewhere is noise only as a
// failed step of the search.
func isLoader(f *Filter, a Access) bool {
	if strings.HasPrefix(a.Path, "/etc/ld.so.") || strings.HasPrefix(a.Path, "/etc/ld-musl-") {
		return true
	}
	base := path.Base(a.Path)
	if base == "glibc-hwcaps" {
		return true
	}
	if !sharedObject(base) {
		return false
	}
	if a.Failed || places.WithinAny(a.Path, system) || slices.ContainsFunc(f.prefixes, func(prefix string) bool { return places.Within(a.Path, prefix+"/lib") }) {
		return true
	}
	// A runtime's own, which a virtual environment points to from another prefix.
	name, _, _ := strings.Cut(strings.TrimPrefix(base, "lib"), ".so")
	return runtime(name) && path.Base(path.Dir(a.Path)) == "lib"
}

// sharedObject: libc.so.6, ld-linux-x86-64.so.2, _ssl.cpython-311.so.
func sharedObject(base string) bool {
	at := strings.LastIndex(base, ".so")
	return at > 0 && strings.Trim(base[at+len(".so"):], "0123456789.") == ""
}

var (
	localeDirs = []string{
		"/usr/share/locale", "/usr/share/locale-langpack", "/usr/lib/locale", "/usr/share/i18n", "/usr/share/zoneinfo",
		"/usr/share/terminfo", "/usr/lib/terminfo", "/lib/terminfo", "/etc/terminfo", "/usr/share/X11/locale",
	}
	localeFiles = words.SetOf("/etc/localtime", "/etc/timezone", "/etc/locale.alias", "/etc/locale.conf", "/etc/default/locale")
)

func isLocale(_ *Filter, a Access) bool {
	return localeFiles[a.Path] || places.WithinAny(a.Path, localeDirs) || component(a.Path, "gconv")
}

var certificates = []string{
	"/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/crypto-policies", "/etc/gnutls", "/usr/share/ca-certificates",
	"/usr/lib/ssl", "/usr/local/ssl", "/usr/local/share/ca-certificates", "/etc/ca-certificates.conf",
}

// isCertificate also covers the sinkhole's own authority, which the environment names.
func isCertificate(_ *Filter, a Access) bool {
	base := path.Base(a.Path)
	return places.WithinAny(a.Path, certificates) || base == "openssl.cnf" || base == sinkhole.AuthorityName
}

var resolver = words.SetOf("/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf",
	"/etc/services", "/etc/protocols", "/etc/networks", "/etc/netsvc.conf", "/etc/svc.conf") // the last two c-ares asks for

func isResolver(_ *Filter, a Access) bool {
	return resolver[a.Path] || places.Within(a.Path, "/run/systemd/resolve")
}

// packageTrees are directories that the package managers of languages fill.
var packageTrees = []string{"node_modules", "site-packages", "dist-packages", ".pnpm"}

// manifests are the files that module loaders look for in the directory of a module and
// all those above it (nodejs.org/api/packages.html, "determining package.json").
var manifests = words.SetOf("package.json", ".pnp.cjs", ".pnp.js", ".pnp.loader.mjs", "pnpm-workspace.yaml")

func isPackage(_ *Filter, a Access) bool {
	return manifests[path.Base(a.Path)] || strings.Contains(a.Path, "/pkg/mod/") && component(a.Path, "go") ||
		slices.ContainsFunc(packageTrees, func(tree string) bool { return component(a.Path, tree) })
}

// isInterpreter covers the files of the runtimes that were executed, by their prefix,
// and the standard library of Python by its path, because a virtual environment has
// another prefix than its library.
func isInterpreter(f *Filter, a Access) bool {
	if base := path.Base(a.Path); base == "pyvenv.cfg" || strings.HasSuffix(base, "._pth") || base == "pybuilddir.txt" {
		return true
	}
	if pythonLibrary(a.Path) || places.Within(a.Path, "/etc/python3") || places.Within(a.Path, "/etc/perl") {
		return true
	}
	for _, prefix := range f.prefixes {
		if inside, ok := strings.CutPrefix(a.Path, prefix+"/"); ok && places.WithinAny(inside, runtimeDirs) {
			return true
		}
	}
	return places.WithinAny(a.Path, f.managers) || len(f.managers) > 0 && component(a.Path, "pyenv.d")
}

// runtimeDirs are the directories of runtimes below their prefixes: Node
// (include, lib/node), Ruby, Perl, PHP, Java (jmods, conf), Go (src, pkg/tool).
var runtimeDirs = []string{
	"bin", "include/node", "lib/node", "share/node", "lib/ruby", "lib/perl", "lib/perl5", "share/perl", "share/perl5",
	"lib/php", "share/php", "jmods", "conf/security", "lib/modules", "lib/security", "lib/jvm.cfg", "pkg/tool", "lib/time",
}

// pythonLibrary: .../lib/python3.11/..., .../lib/python311.zip.
func pythonLibrary(name string) bool {
	for _, lib := range []string{"/lib/python", "/lib64/python"} {
		_, version, _ := strings.Cut(name, lib)
		version, _, _ = strings.Cut(version, "/")
		version = strings.TrimSuffix(version, ".zip")
		if strings.HasPrefix(version, "3") && strings.Trim(version, "0123456789.") == "" {
			return true
		}
	}
	return false
}

// isByteCode covers Python's cache of compiled modules (PEP 3147), which it writes under a temporary name first: a file
// that is opened for writing by its lasting name is not Python's doing.
func isByteCode(_ *Filter, a Access) bool {
	dir, base := path.Split(a.Path)
	if path.Base(dir) != "__pycache__" {
		return base == "__pycache__"
	}
	return strings.HasSuffix(strings.TrimRight(base, "0123456789"), ".pyc.") || strings.HasSuffix(base, ".pyc") && !a.Opened
}

// versionManagers choose among versions of a runtime, and own their directory in the home.
var versionManagers = words.SetOf("/.pyenv/", "/.nvm/", "/.asdf/", "/.fnm/", "/.rbenv/", "/.volta/", "/.nodenv/")

// caches are the caches of package managers below the home.
var caches = []string{
	".npm", ".pnpm-store", ".yarn", ".bun", ".cache/npm", ".cache/node", ".cache/node-gyp", ".cache/pnpm", ".cache/yarn",
	".cache/bun", ".cache/deno", ".cache/pip", ".cache/uv", ".cache/pypoetry", ".local/share/uv", ".local/share/pnpm",
	".local/share/pipx", ".local/pipx", ".config/pnpm", ".config/uv",
}

func isCache(f *Filter, a Access) bool {
	if !f.launched || f.home == "" {
		return false
	}
	inside, ok := strings.CutPrefix(a.Path, f.home+"/")
	return ok && places.WithinAny(inside, caches)
}
