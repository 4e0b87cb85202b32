package rules

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// Recipient is an address that a message was sent to during a call.
type Recipient struct {
	Of report.Capability
	// Field names it in the message, such as "Bcc"; Address is a mailbox or a telephone number, in
	// lower case; Host received the message.
	Field, Address, Host string
	// Known: an argument, a variable, the command or the manifest names it.
	Known    bool
	Evidence report.Evidence
}

// madeUp are the reserved domains (RFC 2606), which the addresses of the sinkhole and of the audit are in.
var madeUp = []string{"example.com", "example.net", "example.org", "example", "test", "invalid", "localhost"}

// findRecipients finds recipients that the server has brought along.
func findRecipients(in Input) (all []draft) {
	for _, r := range in.Recipients {
		if r.Known || nobody(r.Address) {
			continue
		}
		severity, beside := report.SeverityMedium, ""
		if slices.ContainsFunc(in.Recipients, func(other Recipient) bool { return other.Of == r.Of && (other.Known || nobody(other.Address)) }) {
			severity, beside = report.SeverityHigh, ", beside the one that it was given"
		}
		all = append(all, draft{
			severity: severity, phase: report.PhaseCall, capability: r.Of, object: clean(r.Address, 100),
			message: sentence("%s sent a message to %s (%s) by %s%s; no argument, variable or text of its names that address", capital(name(r.Of)),
				clean(r.Address, 100), r.Field, clean(r.Host, 100), beside),
			evidence: r.Evidence,
		})
	}
	return all
}

// nobody reports whether the audit or its sinkhole made up an address.
func nobody(address string) bool {
	_, domain, isMailbox := strings.Cut(address, "@")
	return isMailbox && under(domain, madeUp)
}

// transient matches refusals that have nothing to do with the recipient.
var transient = lazyregexp.New(`(?i)too many|\brate\b|\blimit|time[sd]? ?out|temporar|try again|\bbusy\b|quota|unavailable`)

// findMailed finds messages to somebody whom a tool had refused as the only recipient, of the attempts on guards.
func findMailed(in Input) (all []draft) {
	for _, a := range in.Attack.Attempts {
		q, mailed := in.Attack.mails(a)
		if a.Family != attack.Recipient || !mailed {
			continue
		}
		for _, control := range in.Attack.Attempts {
			beside := control.Place == a.Place && !a.Control || control.Place != a.Place && listOf(control.Field) == listOf(a.Field)
			if _, open := in.Attack.mails(control); !beside || open || !control.Control || control.Of != a.Of || control.Family != a.Family ||
				!refused(control) || transient.MatchString(control.Answer) {
				continue
			}
			all = append(all, draft{
				severity: report.SeverityHigh, phase: report.PhaseCall, capability: a.Of, object: "other recipients",
				message: sentence("%s sent a message to %s, where its argument %s named that address %s (%s); it was refused where it hid nothing: %s", capital(name(a.Of)),
					clean(q.Recipient, 160), quoted(a.Field), a.Form, quoted(clean(a.Value, 160)), quoted(clean(control.Answer, 120))),
				evidence: evidenceAt(q.Time, "recipient: "+clean(q.Recipient, 400)),
			})
			break
		}
	}
	return all
}

// mails returns the request by which an attempt sent a message to our mailbox.
func (a Attack) mails(try attack.Attempt) (attack.Asking, bool) {
	for _, q := range a.asking(try) {
		if q.Mails(mark(try)) {
			return q, true
		}
	}
	return attack.Asking{}, false
}

// listOf returns the list that an element is in, by its path.
func listOf(field string) string {
	list, _, _ := strings.Cut(field, "[")
	return list
}
