package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

// personal is a kind of file without secrets that only programs about its subject open.
type personal struct {
	what string
	// topics are the words by which a declaration mentions such files.
	topics []string
}

var (
	documents = personal{"a file of the user's", slices.Concat(aboutFiles, sweeping, []string{"vault", "vaults", "search", "searches", "index", "indexes",
		"project", "projects", "workspace", "code", "repository", "repositories", "git", "pdf", "image", "images", "photo", "photos", "picture", "pictures", "downloads"})}
	// SSH libraries read both before each connection.
	sshHosts = personal{"the hosts that the user logs in to by SSH", slices.Concat(places.SSHTopics, []string{"remote", "remotes", "deploy", "deploys"})}
	// openFiles are the descriptors of other processes.
	openFiles = personal{"what another process has open", []string{"process", "processes", "pid", "pids", "port", "ports", "connection", "connections", "socket", "sockets",
		"system", "monitor", "monitors", "monitoring", "descriptor", "descriptors", "debugger", "cpu", "lsof"}}
)

// findPersonal finds reads of files about the user: documents that the audit planted in the home, the hosts of SSH,
// and the open files of other processes.
func findPersonal(in Input) []draft {
	own := in.ownPaths()
	return each(in, func(e profile.Effect, d *draft) bool {
		kind, found := in.personal(e)
		if !found || in.wanted(e) || own.owns(e.Path) || in.settled(e.Path) {
			return false
		}
		answer, _ := in.Scope.Answer(e.Capability, scope.Use{Kind: scope.UseRead, Path: e.Path})
		covering := in.Scope.Covering(e.Capability)
		if answer != scope.Unsaid || len(covering.Files) > 0 || speaks(covering, kind.topics) {
			return false
		}
		d.severity, d.object = report.SeverityHigh, kind.what // one finding for all files of a kind
		d.message = sentence("%s read %s (%s), which nothing in its declaration speaks of", subject(e), clean(e.Path, 256), kind.what)
		return true
	}, profile.KindRead, profile.KindList)
}

// personal returns the kind of an opened file.
func (in Input) personal(e profile.Effect) (personal, bool) {
	base := path.Base(e.Path)
	switch {
	case e.Kind == profile.KindList:
		return openFiles, strings.HasPrefix(e.Path, "/proc/") && !strings.HasPrefix(e.Path, "/proc/self/") && base == "fd" && !processTools[path.Base(e.Program)]
	case slices.Contains(in.Belongings, e.Path):
		return documents, true
	case strings.HasPrefix(base, "known_hosts") && strings.Contains(e.Path, "/.ssh/"):
		return sshHosts, !in.logsIn(e)
	}
	return personal{}, false
}

// sshPrograms are programs that use the hosts of SSH.
var sshPrograms = map[string]bool{"ssh": true, "scp": true, "sftp": true, "ssh-keyscan": true, "sshd": true, "autossh": true}

// portSSH is the port of SSH (RFC 4253, 4).
const portSSH = 22

// logsIn reports whether the hosts of SSH were read for a connection: by a program of SSH, or by a capability that
// connects to its port.
func (in Input) logsIn(e profile.Effect) bool {
	return sshPrograms[path.Base(e.Program)] && bin[path.Dir(e.Program)] || slices.ContainsFunc(in.Profile.Effects, func(other profile.Effect) bool {
		return other.Kind == profile.KindConnect && other.Port == portSSH && other.Capability == e.Capability
	})
}

// settled reports whether a file is in a directory that the operator gave the server, which may be the home.
func (in Input) settled(name string) bool {
	return in.Dir != "" && places.Within(name, in.Dir) || places.WithinAny(name, in.Roots()) ||
		places.WithinAny(name, configuredPaths(in.Command, in.Env))
}
