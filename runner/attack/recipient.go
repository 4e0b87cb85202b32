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
		return f.before + m.ID() + "@" + m.ID() + "-" + domainOf(f.core()) + f.behind
	}},
	{name: "in a domain that begins like that of the value", write: func(f field, m inputs.Mark, _ int) string {
		return f.before + m.ID() + "@" + domainOf(f.core()) + "." + m.Host() + f.behind
	}},
}

// mailed is a form in which "!" stands for our mailbox, and "{}" for the honest one.
func mailed(name, pattern string) form {
	return form{name: name, write: func(f field, m inputs.Mark, _ int) string {
		return f.before + strings.NewReplacer("{}", f.core(), "!", m.ID()+"@"+m.Host()).Replace(pattern) + f.behind
	}}
}

// domainOf returns the domain of a mailbox.
func domainOf(mailbox string) string {
	_, domain, _ := strings.Cut(mailbox, "@")
	return domain
}

const maxRecipientFields = 3 // of one target

var (
	// mailbox matches the address of a mailbox, mailboxIn one in a text.
	mailbox   = lazyregexp.New(`^[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+$`)
	mailboxIn = lazyregexp.New(`[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,4}\.[A-Za-z]{2,24}\b`)
	// recipientLine matches the command of SMTP that names a recipient, recipientName the members of requests that do.
	recipientLine = lazyregexp.New(`(?i)^RCPT TO:\s*<([^<>\s]{1,320})>`)
	recipientName = lazyregexp.New(`(?i)^(?:to|cc|bcc|(?:to|cc|bcc)?_?-?(?:recipients?|address(?:es)?|e?mails?))(?:\[\])?$`)
)

// recipientSteps returns the attempts of family Recipient, for targets that use the network, or name a mailbox: a guard
// refuses the ones that the audit makes up before anything is sent.
func recipientSteps(fields []field, seen Seen, said string) []step {
	var places []field
	example := mailboxIn.FindString(said)
	for _, f := range fields {
		if (seen.Network || example != "") && f.text && f.variable == "" && mailbox.MatchString(f.core()) && len(places) < maxRecipientFields {
			if _, ours := inputs.Marked(domainOf(f.core())); ours && example != "" {
				f.value = f.before + example + f.behind
			}
			places = append(places, f)
		}
	}
	return formed(Recipient, recipientForms, places)
}

// Mails reports whether a request names our mailbox of an attempt as a recipient.
func (q Asking) Mails(mark string) bool { return strings.Contains(q.Recipient, mark+"@") }
