package rules

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
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
