package profile

import (
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/noise"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// rank orders effects by worth when there are too many to keep.
type rank int

const (
	rankAttempt rank = iota
	rankRead
	rankWrite
	rankPrivate   // below home, or with a name like a secret's
	rankOutreach  // network, programs, evasion
	rankSensitive // of paths that a rule judges, or of planted files
	ranks
)

// rank returns the rank of an effect, with what the Builder knows of its path.
func (b *Builder) rank(f Fact) rank {
	if !f.file() {
		return f.rank()
	}
	if f.Kind != KindAttempt && f.Kind != KindLook && b.limits.Sensitive != nil && b.limits.Sensitive(f.Path) {
		return rankSensitive
	}
	if b.limits.Home != "" && b.limits.Home != "/" && places.Within(f.Path, b.limits.Home) {
		return rankPrivate
	}
	return f.rank()
}

func (f Fact) file() bool {
	switch f.Kind {
	case KindRead, KindList, KindWrite, KindDelete, KindStore, KindLoad, KindAttempt, KindLook:
		return true
	}
	return false
}

// rank returns the rank of an effect by itself.
func (f Fact) rank() rank {
	if !f.file() {
		switch {
		case f.Kind == KindExec && f.Error != "": // looking for a program along PATH
			return rankWrite
		case f.Kind == KindEvade || f.Kind == KindExec || private(f.Path):
			return rankOutreach
		case (report.Connection{Address: f.Address, Protocol: f.Protocol}).Loopback(): // 65535 ports that lead nowhere
			return rankWrite
		}
		return rankOutreach
	}
	switch {
	case private(f.Path):
		return rankPrivate
	case f.changes():
		return rankWrite
	case f.Kind == KindRead:
		return rankRead
	}
	return rankAttempt
}

// private reports whether a path looks like a secret's.
func private(name string) bool {
	return places.Kept(name) || containsAny(strings.ToLower(name), secretWords)
}

func containsAny(s string, words []string) bool {
	for _, word := range words {
		if strings.Contains(s, word) {
			return true
		}
	}
	return false
}

// secretWords only hint at what is worth keeping: libraries have modules with such
// names.
var secretWords = []string{"credential", "secret", "password", "passwd", "token", "private", "wallet", "keychain",
	"keyring", ".pem", ".key", ".p12", ".pfx", ".kdbx", "history", "cookie", "login data", "cron", "autostart", "/.config/"}

// changes reports whether an effect changes the file.
func (f Fact) changes() bool {
	return f.Kind == KindWrite || f.Kind == KindDelete || f.Kind == KindStore
}

// filtered returns why an effect is noise, if it is. op is the operation of a failed
// attempt: a failed change counts as a change.
func (b *Builder) filtered(f Fact, op trace.Op) (noise.Reason, bool) {
	switch f.Kind {
	case KindRead, KindList, KindWrite, KindDelete, KindStore, KindLoad, KindAttempt, KindLook:
		failed := f.Kind == KindAttempt
		return b.filter.Reason(noise.Access{Path: f.Path, Failed: failed, Change: f.changes() || failed && op != trace.OpRead,
			Opened: f.Kind == KindWrite && strings.HasPrefix(f.Operation, "open")})
	case KindConnect:
		return noise.Resolver, f.Protocol == "unix" && f.Error != "" && nameCache[f.Path]
	}
	return "", false
}

// nameCache has the sockets of nscd(8), the C library's cache of names.
var nameCache = map[string]bool{"/var/run/nscd/socket": true, "/run/nscd/socket": true}
