package profile

import (
	"path"
	"strings"
)

// rank is how much an effect is worth keeping when there is too much.
type rank int

const (
	// rankOrdinary is not kept at all: what every program does to start.
	rankOrdinary rank = iota
	rankAttempt
	rankRead
	rankWrite
	rankPrivate  // below home, or by a name that secrets have
	rankOutreach // network, programs, evasion: never dropped for a file
	ranks
)

func (id identity) rank(home string) rank {
	switch id.kind {
	case KindExec:
		if id.errno != "" {
			return rankWrite // looking for a program along PATH
		}
		return rankOutreach
	case KindConnect, KindListen, KindEvade:
		return rankOutreach
	}
	switch {
	case private(id.path, home):
		return rankPrivate
	case ordinary(id):
		return rankOrdinary
	}
	switch id.kind {
	case KindWrite:
		return rankWrite
	case KindRead:
		return rankRead
	}
	return rankAttempt
}

// private tells whether a path is below home or looks like a secret's.
func private(name, home string) bool {
	if home != "" && home != "/" && below(name, home) {
		return true
	}
	lower := strings.ToLower(name)
	return secretFiles[path.Base(lower)] || containsAny(lower, secretPlaces) ||
		!code(name) && containsAny(lower, secretWords)
}

func containsAny(s string, words []string) bool {
	for _, word := range words {
		if strings.Contains(s, word) {
			return true
		}
	}
	return false
}

// secretFiles and secretPlaces are secret wherever they are: they overrule
// ordinary, for a key is a key also among the libraries. secretWords are only
// a hint, and libraries have modules of such names. None of the lists can do
// harm by being too long: they only decide what is kept.
var (
	secretFiles = set("id_rsa", "id_ed25519", "id_ecdsa", "id_dsa", "authorized_keys", "known_hosts", ".env", ".netrc",
		".npmrc", ".pypirc", ".git-credentials", ".gitconfig", ".pgpass", ".claude.json", ".vault-token", ".bashrc",
		".profile", ".zshrc", "environ", "mem", "shadow", "gshadow", "credentials", "docker.sock", "containerd.sock")
	secretPlaces = []string{"/.ssh/", "/.aws/", "/.azure/", "/.config/", "/.kube/", "/.docker/", "/.gnupg/",
		"/ssl/private/", "/pki/tls/private/", "/serviceaccount/", "/run/secrets/", "/.env."}
	secretWords = []string{"credential", "secret", "password", "passwd", "token", "private", "wallet", "keychain",
		"keyring", ".pem", ".key", ".p12", ".pfx", ".kdbx", "history", "cookie", "login data", "cron", "autostart"}
)

func below(name, dir string) bool {
	return name == dir || strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/")
}

// ordinary tells whether every program does this: finding and loading code and
// locale data, asking the kernel about itself, talking to harmless devices.
func ordinary(id identity) bool {
	if harmlessDevices[id.path] || strings.HasPrefix(id.path, "/memfd:") {
		return true
	}
	if strings.HasPrefix(id.path, "/proc/self/") || strings.HasPrefix(id.path, "/proc/thread-self/") {
		return id.kind != KindWrite || path.Base(id.path) == "comm" || strings.HasSuffix(id.path, "/oom_score_adj")
	}
	if id.kind == KindWrite {
		return false
	}
	return harmlessFiles[id.path] || code(id.path)
}

// code tells whether a path is among the code and data that come with the
// operating system or with the packages of a language, or is what the kernel
// says about the machine.
func code(name string) bool {
	for _, dir := range systemDirs {
		if below(name, dir) {
			return true
		}
	}
	return containsAny(name, packageDirs)
}

// harmlessDevices may be read and written by anybody.
var harmlessDevices = set("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty",
	"/dev/stdin", "/dev/stdout", "/dev/stderr")

// harmlessFiles are what the C library and language runtimes read at start and
// at the first use of the network.
var harmlessFiles = set("/etc/ld.so.cache", "/etc/ld.so.preload", "/etc/ld.so.conf", "/etc/localtime",
	"/etc/locale.alias", "/etc/timezone", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/hosts", "/etc/hostname",
	"/etc/resolv.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols", "/etc/mime.types", "/etc/os-release",
	"/etc/debian_version", "/etc/alpine-release", "/etc/inputrc", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat",
	"/proc/version", "/proc/version_signature", "/proc/filesystems", "/proc/uptime", "/proc/loadavg", "/proc/mounts")

var packageDirs = []string{"/node_modules/", "/site-packages/", "/dist-packages/", "/__pycache__/"}

var systemDirs = []string{
	"/lib", "/lib32", "/lib64", "/libx32", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/local/lib",
	"/usr/share", "/usr/local/share", "/usr/bin", "/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/include",
	"/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/terminfo",
	"/sys", "/proc/sys", "/proc/pressure", "/run/systemd/resolve",
}

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, name := range names {
		m[name] = true
	}
	return m
}
