package audit

import (
	"fmt"
	"net/netip"
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
	written, reached := map[string]bool{}, ""
	for _, e := range o.profile.Effects {
		if e.Phase != report.PhaseStartup || e.Error != "" {
			continue
		}
		switch e.Kind {
		case profile.KindWrite:
			written[e.Path] = true
		case profile.KindConnect, profile.KindSend:
			host := strings.ToLower(strings.TrimSuffix(e.Host, "."))
			for _, domain := range codeHosts {
				if host == domain || strings.HasSuffix(host, "."+domain) {
					return host
				}
			}
			if address, err := netip.ParseAddr(e.Address); err == nil && !address.IsLoopback() && e.Protocol == "tcp" {
				reached = e.Address
			}
		}
	}
	if reached == "" {
		return ""
	}
	if launcher {
		return reached
	}
	for _, e := range o.profile.Effects {
		if e.Phase == report.PhaseStartup && e.Kind == profile.KindExec && e.Error == "" && written[e.Path] {
			return reached
		}
	}
	return ""
}
