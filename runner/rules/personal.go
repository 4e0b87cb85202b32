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

// personal is a kind of file that holds no secret, and that nobody opens whose subject it is not.
type personal struct {
	what string
	// topics are the words by which a declaration speaks of such files.
	topics []string
}

var (
	documents = personal{"a file of the user's", slices.Concat(aboutFiles, storing, sweeping, []string{"vault", "vaults", "search", "searches", "index", "indexes",
		"project", "projects", "workspace", "code", "repository", "repositories", "git", "pdf", "image", "images", "photo", "photos", "picture", "pictures", "local", "path", "paths"})}
	// SSH libraries read both before each connection.
	sshHosts = personal{"the hosts that the user logs in to by SSH", slices.Concat(places.SSHTopics, []string{"remote", "remotes", "deploy", "deploys"})}
	// openFiles are the descriptors of other processes.
	openFiles = personal{"what another process has open", []string{"process", "processes", "pid", "pids", "port", "ports", "connection", "connections", "socket", "sockets",
		"system", "monitor", "monitors", "monitoring", "descriptor", "descriptors", "debugger", "cpu", "lsof"}}
)

// findPersonal finds reads of what tells about the user: documents that the audit has put into the home, the hosts of SSH,
// and what other processes have open.
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
		d.severity, d.object = report.SeverityHigh, kind.what // one finding, however many files
		d.message = sentence("%s read %s (%s), which nothing in its declaration speaks of", subject(e), clean(e.Path, 256), kind.what)
		return true
	}, profile.KindRead, profile.KindList)
}

// personal returns the kind of file that was opened.
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

// sshPrograms are those that read the hosts of SSH for what they are there for.
var sshPrograms = map[string]bool{"ssh": true, "scp": true, "sftp": true, "ssh-keyscan": true, "sshd": true, "autossh": true}

// portSSH is where SSH listens.
const portSSH = 22

// logsIn reports whether the hosts of SSH were read to connect by SSH: by its programs, or by who connects to its port.
func (in Input) logsIn(e profile.Effect) bool {
	return sshPrograms[path.Base(e.Program)] || slices.ContainsFunc(in.Profile.Effects, func(other profile.Effect) bool {
		return other.Kind == profile.KindConnect && other.Port == portSSH && other.Capability == e.Capability
	})
}

// settled reports whether a file lies where the operator has put the server, which may be the home.
func (in Input) settled(name string) bool {
	return in.Dir != "" && places.Within(name, in.Dir) || places.WithinAny(name, in.Roots()) ||
		places.WithinAny(name, configuredPaths(in.Command, in.Env))
}
