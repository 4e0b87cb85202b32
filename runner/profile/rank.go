package profile

import (
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/noise"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// rank is how much an effect is worth keeping when there is too much.
type rank int

const (
	rankAttempt rank = iota
	rankRead
	rankWrite
	rankPrivate   // below home, or by a name that secrets have
	rankOutreach  // network, programs, evasion
	rankSensitive // what a rule, or a planted file, is about
	ranks
)

// rank returns the rank of an effect, by what the Builder knows of its path.
func (b *Builder) rank(id identity) rank {
	if !id.file() {
		return id.rank()
	}
	if id.kind != KindAttempt && b.limits.Sensitive != nil && b.limits.Sensitive(id.path) {
		return rankSensitive
	}
	if b.limits.Home != "" && b.limits.Home != "/" && below(id.path, b.limits.Home) {
		return rankPrivate
	}
	return id.rank()
}

// file reports whether the effect is one on a file.
func (id identity) file() bool {
	switch id.kind {
	case KindRead, KindList, KindWrite, KindDelete, KindStore, KindAttempt:
		return true
	}
	return false
}

// rank returns the rank of an effect by itself.
func (id identity) rank() rank {
	if !id.file() {
		switch {
		case id.kind == KindExec && id.errno != "": // looking for a program along PATH
			return rankWrite
		case id.kind == KindEvade || id.kind == KindExec || private(id.path):
			return rankOutreach
		case (report.Connection{Address: id.address, Protocol: id.protocol}).Loopback(): // 65535 ports that lead nowhere
			return rankWrite
		}
		return rankOutreach
	}
	switch {
	case private(id.path):
		return rankPrivate
	case id.changes():
		return rankWrite
	case id.kind == KindRead:
		return rankRead
	}
	return rankAttempt
}

// private reports whether a path looks like a secret's.
func private(name string) bool {
	return noise.Secret(name) || containsAny(strings.ToLower(name), secretWords)
}

func containsAny(s string, words []string) bool {
	for _, word := range words {
		if strings.Contains(s, word) {
			return true
		}
	}
	return false
}

// secretWords are only a hint at what is worth keeping: libraries have modules
// of such names.
var secretWords = []string{"credential", "secret", "password", "passwd", "token", "private", "wallet", "keychain",
	"keyring", ".pem", ".key", ".p12", ".pfx", ".kdbx", "history", "cookie", "login data", "cron", "autostart", "/.config/"}

func below(name, dir string) bool {
	return name == dir || strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/")
}

// changes reports whether an effect changes the file.
func (id identity) changes() bool {
	return id.kind == KindWrite || id.kind == KindDelete || id.kind == KindStore
}

// filtered is the reason why an effect is noise. op is what it was made of: a
// change that failed is noise no more than one that did not.
func (b *Builder) filtered(id identity, op trace.Op) (noise.Reason, bool) {
	switch id.kind {
	case KindRead, KindList, KindWrite, KindDelete, KindStore, KindAttempt:
		failed := id.kind == KindAttempt
		return b.filter.Reason(noise.Access{Path: id.path, Failed: failed, Change: id.changes() || failed && op != trace.OpRead})
	case KindConnect:
		return noise.Resolver, id.protocol == "unix" && id.errno != "" && nameCache[id.path]
	}
	return "", false
}

// nameCache is where the C library looks for a daemon that caches names, nscd(8).
var nameCache = map[string]bool{"/var/run/nscd/socket": true, "/run/nscd/socket": true}
