// Package codepath determines where a container's code comes from: how an audit's list of code
// paths is bounded, and whether a workload's mount changes what was audited. The runner, the
// manager and the gate share it.
//
// A code path is absolute and clean. A directory stands for everything below it, a file for
// itself. The contents of System, which every image has, are not listed.
package codepath

import (
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// The limits of a list: paths, bytes of each, and bytes of all. The CRDs state the first two.
const (
	MaxPaths = 64
	MaxBytes = 256
	maxTotal = 4 << 10
)

// Root is the code path of programs that look for modules in "/". It stands for everything in
// it except the directories of the Filesystem Hierarchy Standard.
const Root = "/"

// Home is the code path of interpreters that load code from their user's home. It stands for
// every home: the image decides which one applies, and the audit has its own.
const Home = "/~"

// homes lists what such interpreters look for in a home (site.py, RubyGems, Bun, Julia, R),
// besides the trees.
var homes = []string{".local", ".config", ".gem", ".bun", ".bunfig.toml", ".julia", ".Rprofile"}

// homeVariables say where such interpreters look (XDG Base Directory Specification 0.8).
var homeVariables = []string{"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_DIRS"}

// MovesHome reports whether an environment variable decides where Home is.
func MovesHome(variable string) bool { return slices.Contains(homeVariables, variable) }

// token is the path at which the kubelet mounts the token of the service account.
const token = "/run/secrets/kubernetes.io/serviceaccount"

// System are the directories of the distribution's programs and libraries, and the files that
// control the dynamic loader (ld.so(8), ld-musl). A mount there always alters the code.
var System = []string{
	"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32",
	"/usr/libexec", "/usr/local/bin", "/usr/local/sbin", "/usr/local/lib", "/usr/local/lib64", "/etc/alternatives",
	"/etc/ld.so.preload", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld-musl-x86_64.path", "/etc/ld-musl-aarch64.path",
}

// trees are directories that programs look for by name anywhere: in every directory above a
// module, and in the home.
var trees = []string{"node_modules", ".node_modules", ".node_libraries", "site-packages", "dist-packages", "__pycache__"}

// standard are the directories of "/" in the Filesystem Hierarchy Standard 3.0, and /data,
// which no program's modules are named.
var standard = []string{"bin", "boot", "data", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "media", "mnt", "opt", "proc", "root", "run", "sbin", "srv", "sys", "tmp", "usr", "var"}

// Clean returns a mount path as the kubelet reads it, with /var/run as /run, which it links to
// in nearly every image.
func Clean(name string) string {
	name = path.Clean("/" + name)
	if rest, ok := strings.CutPrefix(name, "/var/run"); ok && (rest == "" || rest[0] == '/') {
		return "/run" + rest
	}
	return name
}

// Below reports whether a clean path is dir or in it.
func Below(name, dir string) bool {
	return dir == "/" || strings.HasPrefix(name, dir) && (len(name) == len(dir) || name[len(dir)] == '/')
}

// InSystem reports whether a clean path is in System or below one of its entries.
func InSystem(name string) bool {
	return slices.ContainsFunc(System, func(dir string) bool { return Below(name, dir) })
}

// Tree returns the uppermost directory of a clean path that is in trees; empty if there is
// none.
func Tree(name string) string {
	for at := 1; at < len(name); {
		end := len(name)
		if slash := strings.IndexByte(name[at:], '/'); slash >= 0 {
			end = at + slash
		}
		if slices.Contains(trees, name[at:end]) {
			return name[:end]
		}
		at = end + 1
	}
	return ""
}

// Altered returns the code path that a mount covers or lies in; empty if there is none. If the
// paths are unknown it returns the mount itself, except that of the service account's token:
// any other may alter the code.
func Altered(mount string, paths []string) string {
	mount = Clean(mount)
	if tree := Tree(mount); tree != "" {
		return tree
	}
	if slices.Contains(paths, Home) && inHome(mount) {
		return mount
	}
	for _, list := range [][]string{System, paths} {
		for _, code := range list {
			if overlaps(mount, code) {
				return code
			}
		}
	}
	if len(paths) == 0 && !Below(mount, token) {
		return mount
	}
	return ""
}

// inHome reports whether a clean mount covers a home, or what interpreters look for in it.
func inHome(mount string) bool {
	parts := strings.Split(mount[1:], "/")
	switch parts[0] {
	case "root":
		parts = parts[1:]
	case "home":
		parts = parts[min(len(parts), 2):]
	}
	return len(parts) == 0 || slices.Contains(homes, parts[0])
}

func overlaps(mount, code string) bool {
	if code == Root && mount != "/" {
		first, _, _ := strings.Cut(mount[1:], "/")
		return !slices.Contains(standard, first)
	}
	return Below(mount, code) || Below(code, mount)
}

// Reduce makes a list of code paths from observed ones: sorted, without nested ones, within the
// limits. If there are too many, the deepest are replaced by their directories. It is nil if
// even that does not fit: the code paths are then unknown. Paths in System are omitted, except
// for one if there is no other.
func Reduce(seen []string) []string {
	var all, system []string
	for _, name := range seen {
		for len(name) > MaxBytes {
			name = path.Dir(name)
		}
		switch {
		case !path.IsAbs(name) || !utf8.ValidString(name):
			return nil
		case InSystem(name):
			system = append(system, name)
		default:
			all = append(all, Clean(name))
		}
	}
	if len(all) == 0 && len(system) > 0 {
		return []string{slices.Min(system)}
	}
	all = distinct(all)
	for len(all) > MaxPaths || total(all) > maxTotal {
		dirs := deepest(all)
		if dirs == nil {
			return nil
		}
		all = distinct(append(all, dirs...))
	}
	return all
}

// deepest returns directories that can replace the deepest paths: the one with the most of
// them, or all if there are many. It is nil for paths directly in "/".
func deepest(all []string) []string {
	most, within := 2, map[string]int{}
	for _, name := range all {
		if depth(name) > most {
			most = depth(name)
			clear(within)
		}
		if depth(name) == most {
			within[path.Dir(name)]++
		}
	}
	dirs := slices.Sorted(maps.Keys(within))
	if len(dirs) == 0 || len(dirs) > MaxPaths {
		return dirs
	}
	return []string{slices.MaxFunc(dirs, func(a, b string) int { return within[a] - within[b] })}
}

// depth returns the number of directories above a clean path.
func depth(name string) int { return strings.Count(name, "/") }

// distinct sorts a list and removes paths below others. Root is always kept.
func distinct(all []string) []string {
	slices.Sort(all)
	all = slices.Compact(all)
	known := make(map[string]bool, len(all))
	for _, name := range all {
		known[name] = true
	}
	return slices.DeleteFunc(all, func(name string) bool {
		for dir := name; dir != "/"; {
			if dir = path.Dir(dir); dir != "/" && known[dir] {
				return true
			}
		}
		return false
	})
}

func total(all []string) int {
	n := 0
	for _, name := range all {
		n += len(name)
	}
	return n
}
