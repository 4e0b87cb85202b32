package rules

import (
	"net/netip"
	"path"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

// listenTopics are words by which a declaration speaks of listening.
var listenTopics = []string{"listen", "listens", "listening", "listener", "webhook", "webhooks", "callback", "websocket", "inspector",
	"dashboard", "0.0.0.0", "bind", "binds", "mdns", "upnp"}

func findListeners(in Input) []draft {
	ours := in.audited()
	return each(in, func(e profile.Effect, d *draft) bool {
		address, err := netip.ParseAddr(e.Address)
		if err != nil || e.Error != "" || e.Protocol != "tcp" && e.Protocol != "udp" || ours != 0 && e.Port == ours && e.Protocol == "tcp" {
			return false
		}
		d.severity, d.object = report.SeverityMedium, endpoint(e)+"/"+e.Protocol
		answer, list := in.Scope.Answer(e.Capability, scope.Use{Kind: scope.UseListen, Address: e.Address, Port: e.Port})
		switch {
		case answer == scope.Exceeded && !address.IsLoopback():
			d.severity, d.exceeded = report.SeverityHigh, true
			d.message = sentence("%s listens on %s (%s); by the declared scope it %s", subject(e), endpoint(e), e.Protocol, list.Means)
			return true
		case answer != scope.Unsaid, address.IsLoopback(), in.Scope.Covering(e.Capability).Mentions(listenTopics...):
			return false
		}
		d.message = sentence("%s listens on %s (%s), which others can reach; nothing in its declaration speaks of that", subject(e), endpoint(e), e.Protocol)
		return true
	}, profile.KindListen)
}

// audited returns the port by which the audit talks to the server; 0 for none. If no port was given, it is the
// first that the server listens on and the audit can reach.
func (in Input) audited() int {
	if !plan.ByName(in.Transport).Listens {
		return 0
	}
	if in.Port != 0 {
		return int(in.Port)
	}
	for _, e := range in.Profile.Effects {
		address, err := netip.ParseAddr(e.Address)
		if e.Kind == profile.KindListen && e.Protocol == "tcp" && e.Error == "" && err == nil && (address.IsLoopback() || address.IsUnspecified()) {
			return e.Port
		}
	}
	return 0
}

// elevating are programs that give another user's rights.
var elevating = map[string]bool{"sudo": true, "su": true, "doas": true, "pkexec": true, "sudoedit": true, "gksudo": true}

// elevates reports whether a program was started to get another user's rights without a declaration.
func (in Input) elevates(e profile.Effect) bool {
	if !elevating[path.Base(e.Path)] || e.Error == "ENOENT" || e.Phase == report.PhaseStartup ||
		in.Scope.Covering(e.Capability).Mentions("sudo", "su", "doas", "root", "privileged", "administrator", "elevated") {
		return false
	}
	_, told := in.Explains(e)
	return !told
}

func findElevations(in Input) []draft {
	return each(in, func(e profile.Effect, d *draft) bool {
		d.severity, d.object = report.SeverityHigh, e.Path
		d.message = sentence("%s started %s, which gives another user's rights; nothing in its declaration speaks of that", subject(e), program(e))
		return in.elevates(e)
	}, profile.KindExec)
}
