package attack

import (
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// recipientForms make a value name a mailbox of our own. The first hides nothing; the others are for guards that look for
// an allowed address, or for its domain.
var recipientForms = []form{
	mailed("as another address", "!").plainly(),
	mailed("before the value, behind which is a comma", "!,{}"),
	mailed("behind the value and a comma", "{}, !"),
	mailed("before the value and a semicolon", "!;{}"),
	mailed("behind the value as a name", "{} <!>"),
	mailed("behind the value in quotes", `"{}" <!>`),
	mailed("on a line before the value", "!\n{}"),
	{name: "in a domain that ends like that of the value", write: func(f field, m inputs.Mark, _ int) string {
		_, domain, _ := strings.Cut(f.core(), "@")
		return f.before + m.ID() + "@" + m.ID() + "-" + domain + f.behind
	}},
	{name: "in a domain that begins like that of the value", write: func(f field, m inputs.Mark, _ int) string {
		_, domain, _ := strings.Cut(f.core(), "@")
		return f.before + m.ID() + "@" + domain + "." + m.Host() + f.behind
	}},
}

// mailed is a form in which "!" stands for our mailbox, and "{}" for the honest one.
func mailed(name, pattern string) form {
	return form{name: name, write: func(f field, m inputs.Mark, _ int) string {
		return f.before + strings.NewReplacer("{}", f.core(), "!", m.ID()+"@"+m.Host()).Replace(pattern) + f.behind
	}}
}

const maxRecipientFields = 3 // of one target

var (
	// mailbox matches the address of a mailbox.
	mailbox = lazyregexp.New(`^[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+$`)
	// recipientLine matches the command of SMTP that names a recipient, recipientName the members of requests that do.
	recipientLine = lazyregexp.New(`(?i)^RCPT TO:\s*<([^<>\s]{1,320})>`)
	recipientName = lazyregexp.New(`(?i)^(?:to|cc|bcc|(?:to|cc|bcc)?_?-?(?:recipients?|address(?:es)?|e?mails?))(?:\[\])?$`)
)

// recipientSteps returns the attempts of family Recipient, for targets that use the network.
func recipientSteps(fields []field, seen Seen) []step {
	var places []field
	for _, f := range fields {
		if seen.Network && f.text && f.variable == "" && mailbox.MatchString(f.core()) && len(places) < maxRecipientFields {
			places = append(places, f)
		}
	}
	return formed(Recipient, recipientForms, places)
}

// Mails reports whether a request names our mailbox of an attempt as a recipient.
func (q Asking) Mails(mark string) bool { return strings.Contains(q.Recipient, mark+"@") }
