package rules

import (
	"net/netip"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// findForeign finds that web pages of other sites are answered. What listens for other machines cannot
// know the names that it has there.
func findForeign(in Input) []draft {
	if in.Attack.Foreign == "" {
		return nil
	}
	ours := in.audited()
	return each(in, func(e profile.Effect, d *draft) bool {
		address, err := netip.ParseAddr(e.Address)
		if err != nil || e.Error != "" || e.Protocol != "tcp" || e.Port != ours {
			return false
		}
		d.severity, d.object = report.SeverityMedium, endpoint(e)
		beyond := ""
		if !address.IsLoopback() {
			d.severity, beyond = report.SeverityInfo, ", which other machines reach as well"
		}
		d.message = sentence("The server listens on %s%s, and answered a request with the Host and the Origin of another site (%s)", endpoint(e), beyond, in.Attack.Foreign)
		return true
	}, profile.KindListen)
}
