package audit

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/codepath"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// privileges returns what the server needed in all traced runs; nil if none was traced.
func privileges(plan Plan, runs []observation, seen profile.Profile) *report.Privileges {
	var needs profile.Needs
	var made trace.Made
	p := &report.Privileges{}
	traced := false
	for _, o := range runs {
		if !o.unaided() {
			continue
		}
		traced = true
		needs.Join(o.needs)
		made.Join(o.made)
		p.UID, p.GID = int64(o.uid), int64(o.gid)
	}
	if !traced {
		return nil
	}
	p.Calls, p.Unmade = made.Calls()
	p.Sockets, p.Processes = made.Families(), made.Processes()
	p.Capabilities = needs.Capabilities()
	p.Writes, p.Dropped = needs.Writes()
	p.Dropped += seen.Dropped
	if home := strings.TrimSuffix(plan.Decoys.Home, "/"); slices.ContainsFunc(p.Writes, func(w report.WrittenDirectory) bool {
		return home != "" && places.Within(w.Path, home)
	}) {
		p.Home = home
	}
	for _, e := range seen.Canonical(plan.resolvers.search).Effects {
		switch peer, ok := peerOf(e); {
		case !ok:
		case e.Kind == profile.KindListen:
			p.Listens = append(p.Listens, peer)
		default:
			p.Egress = append(p.Egress, peer)
		}
	}
	for _, list := range []*[]report.Peer{&p.Egress, &p.Listens} {
		slices.SortFunc(*list, report.ComparePeers)
		*list = slices.Compact(*list)
	}
	return p
}

// unaided reports whether a run was traced and without stand-ins, which are our programs, unless the server does not
// start without them.
func (o observation) unaided() bool {
	return o.launched == nil && !o.untraced && o.stats.Begun && o.how.moment != report.LaunchStandIns
}

// codePaths returns where the server's code came from in all traced runs; nil if not all is known.
func codePaths(runs []observation) []string {
	var all []string
	for _, o := range runs {
		if !o.unaided() {
			continue
		}
		paths, ok := o.code.Paths(o.result.Ledger)
		if !ok {
			return nil
		}
		all = append(all, paths...)
	}
	return codepath.Reduce(all)
}

// peerOf returns the remote end of a connection that leaves or enters the machine. No policy needs to allow the
// loopback.
func peerOf(e profile.Effect) (report.Peer, bool) {
	switch e.Kind {
	case profile.KindConnect, profile.KindSend, profile.KindListen:
	default:
		return report.Peer{}, false
	}
	address, err := netip.ParseAddr(e.Address)
	if err != nil || e.Port == 0 || address.IsLoopback() || e.Protocol != "tcp" && e.Protocol != "udp" {
		return report.Peer{}, false
	}
	if e.Kind == profile.KindListen {
		return report.Peer{Address: e.Address, Port: e.Port, Protocol: e.Protocol}, e.Error == ""
	}
	if e.Port == places.PortDNS {
		return report.Peer{Address: e.Address, Port: e.Port, Protocol: e.Protocol}, true // Host is the requested name
	}
	host := e.Host
	if profile.Local(host, e.FQDN) && !inputs.Named(host) {
		host = e.FQDN // policies can allow names
	}
	if host != "" {
		address = netip.Addr{} // the sinkhole's address is not the name's
	}
	peer := report.Peer{Host: host, Port: e.Port, Protocol: e.Protocol}
	if address.IsValid() {
		peer.Address = address.String()
	}
	return peer, true
}
