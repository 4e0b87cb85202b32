package rules

import (
	"net/netip"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// findForeign finds that web pages of other sites are answered. A server that listens for other machines cannot
// know the names by which these reach it.
func findForeign(in Input) []draft {
	page := in.Attack.Posture
	return in.listens(page.Origin != "", func(e profile.Effect, d *draft) {
		beyond := ""
		if address, err := netip.ParseAddr(e.Address); err != nil || !address.IsLoopback() {
			d.severity, beyond = report.SeverityInfo, ", which other machines reach as well"
		}
		d.message = sentence("The server listens on %s%s, and answered a request %s (%s)", endpoint(e), beyond, page.How, page.Origin)
	})
}

// findSessions finds that the ids of sessions can be guessed or chosen.
func findSessions(in Input) []draft {
	p := in.Attack.Posture
	return in.listens(p.Guessable() || p.Unissued != "", func(e profile.Effect, d *draft) {
		if p.Guessable() {
			d.message = sentence("The server listens on %s, and gives sessions ids that follow each other: %s", endpoint(e), quoted(clean(strings.Join(p.Sessions, ", "), 120)))
			return
		}
		d.message = sentence("The server listens on %s, refuses requests without the id of a session, and took one that it never gave (%s)", endpoint(e), p.Unissued)
	})
}

// findEvaded finds that a server checks its token for some requests only.
func findEvaded(in Input) []draft {
	how := in.Attack.Posture.Evaded
	return in.listens(how != "", func(e profile.Effect, d *draft) {
		d.severity = report.SeverityHigh
		d.message = sentence("The server that listens on %s refuses to begin a session without a token, and answered one %s", endpoint(e), clean(how, 120))
	})
}

// findEnding finds that a malformed request ends the server.
func findEnding(in Input) []draft {
	ended := in.Attack.Posture.Ended
	return in.listens(ended != "", func(e profile.Effect, d *draft) {
		d.message = sentence("The server that listens on %s ended when it was sent %s", endpoint(e), quoted(ended))
	})
}

// listens drafts a finding about the port that was audited, if something is wrong.
func (in Input) listens(wrong bool, write func(profile.Effect, *draft)) []draft {
	if !wrong {
		return nil
	}
	ours := in.audited()
	return each(in, func(e profile.Effect, d *draft) bool {
		if _, err := netip.ParseAddr(e.Address); err != nil || e.Error != "" || e.Protocol != "tcp" || e.Port != ours {
			return false
		}
		d.severity, d.object = report.SeverityMedium, endpoint(e)
		write(e, d)
		return true
	}, profile.KindListen)
}
