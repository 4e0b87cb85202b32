package audit

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// codeHosts serve packages and modules besides the registries of the launchers.
var codeHosts = append(sinkhole.RegistriesOf([]string{"npm", "pip"}).Absent,
	"deno.land", "esm.sh", "unpkg.com", "jsdelivr.net", "rubygems.org", "crates.io", "proxy.golang.org", "repo.maven.apache.org",
)

// fetched is why a Pass would be about code that came over the network when the server
// started: the same command may run other code the next time. It goes by what the server
// did, and by its command only where the trace has no name for whom it talked to.
func fetched(plan Plan, runs []observation) report.Incomplete {
	if plan.Network != report.NetworkAllow {
		return report.Incomplete{} // nothing came
	}
	launcher := len(sinkhole.RegistriesOf(plan.Command).Absent) > 0
	for _, o := range runs {
		if from := o.fetchedFrom(launcher); from != "" {
			return report.Incomplete{Reason: report.ReasonCodeFetched,
				Message: fmt.Sprintf("the server fetched code at its start, from %s: what runs the next time may be other code", from)}
		}
	}
	return report.Incomplete{}
}

// fetchedFrom is where code came from at the start of a run; "" if none did.
func (o observation) fetchedFrom(launcher bool) string {
	written, executed, reached := map[string]bool{}, map[string]bool{}, ""
	for _, e := range o.profile.Effects {
		if e.Phase != report.PhaseStartup || e.Error != "" {
			continue
		}
		switch e.Kind {
		case profile.KindWrite:
			written[e.Path] = true
		case profile.KindExec:
			executed[e.Path] = true
		case profile.KindConnect, profile.KindSend:
			if isCodeHost(e.Host) {
				return e.Host
			}
			if address, err := netip.ParseAddr(e.Address); err == nil && !address.IsLoopback() && e.Protocol == "tcp" {
				reached = e.Address
			}
		}
	}
	for path := range written {
		launcher = launcher || executed[path]
	}
	if !launcher {
		return ""
	}
	return reached
}

// isCodeHost reports whether a host serves packages or modules.
func isCodeHost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return slices.ContainsFunc(codeHosts, func(domain string) bool {
		return host == domain || strings.HasSuffix(host, "."+domain)
	})
}
