package rules

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// readsOnly are sentences that say that a database is only read.
var readsOnly = lazyregexp.New(`(?i)\bread[- ]?only\b|\bselect[- ]only\b|\bonly (?:[\w-]+ ){0,3}select\b|\bselect (?:statements?|queries) (?:are \w+ )?only\b|\bno (?:writes|modifications|changes)\b`)

// findWritesPastGuards are the statements that changed a database which is to be read only,
// where guards were tried.
func findWritesPastGuards(in Input) (all []draft) {
	for _, a := range in.Attack.Attempts {
		s, wrote := in.Attack.wrote(a)
		if a.Family != attack.Write || !wrote {
			continue
		}
		why := in.readsOnly(a.Of)
		if !a.Control {
			open, kept := in.Attack.writable(a)
			if open {
				continue // what hides nothing says it all
			}
			if kept != "" {
				why = kept
			}
		}
		if why == "" {
			continue
		}
		all = append(all, draft{
			severity: report.SeverityHigh, phase: report.PhaseCall, capability: a.Of, object: a.Field,
			message: sentence("%s changed %s by its argument %s (%s): %s; %s", capital(name(a.Of)), changedBy(s), quoted(a.Field), a.Form,
				quoted(clean(strings.TrimSpace(a.Value), 160)), why),
			evidence: evidenceAt(s.Time, s.Protocol+": "+clean(s.Text, 400)),
		})
	}
	return all
}

// changedBy says what a statement has changed.
func changedBy(s attack.Statement) string {
	if s.Protocol == "file" {
		return "a file"
	}
	return "the database"
}

// wrote returns the statement by which an attempt changed the database.
func (a Attack) wrote(try attack.Attempt) (attack.Statement, bool) {
	for _, s := range a.of(try) {
		if slices.ContainsFunc(s.Writes, func(part string) bool { return strings.Contains(part, mark(try)) }) {
			return s, true
		}
	}
	e, opened := a.sighted.ran[try.Call]
	if try.Family != attack.Write || !opened || e.Kind != profile.KindWrite {
		return attack.Statement{}, false
	}
	return attack.Statement{Protocol: "file", Text: e.Detail, Time: e.Time}, true
}

// writable reports how the control of an attempt went: whether it changed the database, and
// else what kept it from that; "" where that is not known.
func (a Attack) writable(try attack.Attempt) (open bool, kept string) {
	for _, control := range a.controls(try) {
		_, wrote := a.wrote(control)
		switch {
		case wrote:
			return true, ""
		case len(a.of(control)) > 0:
			kept = "the plain statement came to it in a transaction that is read-only"
		case refused(control):
			kept = "the plain statement was refused"
		}
	}
	return false, kept
}

// readsOnly is why a capability is to read only, by its own texts or the server's; "" where
// these do not say so.
func (in Input) readsOnly(of report.Capability) (why string) {
	in.eachText(func(whose report.Capability, field, text string) {
		if why != "" || whose != of && whose.Kind != report.CapabilityServer {
			return
		}
		if said := readsOnly.FindString(text); said != "" {
			why = "its " + clean(field, 60) + " says " + quoted(clean(said, 80))
		}
	})
	return why
}
