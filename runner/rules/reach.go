package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// ofMetadata reports whether an effect leads to a metadata service that was asked for more
// than which machine this is, and that nothing in the declaration explains.
func (in Input) ofMetadata(e profile.Effect) bool {
	return toMetadata(e) && !in.Identity[destinationHost(e)] && !speaks(in.Scope.Covering(e.Capability), lexicon().CloudTopics)
}

// toMetadata reports whether an effect leads to a metadata service.
func toMetadata(e profile.Effect) bool {
	return slices.Contains(sinkhole.MetadataHosts, e.Address) || slices.Contains(sinkhole.MetadataHosts, e.Host)
}

// control is a socket that is worth more than it seems.
type control struct {
	what string
	// bases are patterns (path.Match) of the name, dirs parts that its directory
	// must have ("" for any).
	bases  []string
	dir    string
	topics []string
}

var containerTopics = []string{"docker", "container", "containers", "containerd", "podman", "oci", "compose", "kubernetes", "k8s", "buildkit"}

var controls = []control{
	{what: "the container runtime, which owns the machine", topics: containerTopics,
		bases: []string{"docker.sock", "docker.raw.sock", "docker-cli.sock", "dockershim.sock", "containerd.sock", "containerd.sock.ttrpc",
			"crio.sock", "podman.sock", "buildkitd.sock", "cri-dockerd.sock"}},
	{what: "systemd, which owns the machine", bases: []string{"private"}, dir: "/systemd", topics: places.UnitTopics},
	{what: "the SSH agent, which signs with the user's keys", bases: []string{"agent.*"}, dir: "/ssh-", topics: places.SSHTopics},
	{what: "the SSH agent, which signs with the user's keys", bases: []string{"ssh", "S.gpg-agent.ssh"}, dir: "/keyring", topics: places.SSHTopics},
	{what: "the GnuPG agent, which signs with the user's keys", bases: []string{"S.gpg-agent*", "S.keyboxd"}, topics: []string{"gpg", "gnupg", "pgp", "openpgp", "git"}},
}

// controlAt finds what listens at a unix socket's path.
func controlAt(name string) (control, bool) {
	for _, c := range controls {
		if !strings.Contains(path.Dir(name), c.dir) {
			continue
		}
		for _, pattern := range c.bases {
			if ok, err := path.Match(pattern, path.Base(name)); err == nil && ok {
				return c, true
			}
		}
	}
	return control{}, false
}

func findControlSockets(in Input) []draft {
	return each(in, func(e profile.Effect, d *draft) bool {
		c, ok := controlAt(e.Address)
		if e.Protocol != "unix" || !ok || speaks(in.Scope.Covering(e.Capability), c.topics) {
			return false
		}
		d.severity, d.object = report.SeverityHigh, e.Address
		d.message = sentence("%s tried to connect to %s (%s), of which nothing in its declaration speaks", subject(e), clean(e.Address, 256), c.what)
		return true
	}, profile.KindConnect)
}
