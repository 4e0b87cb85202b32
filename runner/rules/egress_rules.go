package rules

import "github.com/mcpaudit/mcpaudit/api/report"

// The ids, by which contacts.of tells the rules apart.
const (
	idUndeclaredEgress    = "MCPA-EGRESS-001"
	idMetadataService     = "MCPA-EGRESS-002"
	idOtherHost           = "MCPA-EGRESS-003"
	idStartupEgress       = "MCPA-EGRESS-004"
	idIdleEgress          = "MCPA-EGRESS-005"
	idUndeclaredTelemetry = "MCPA-EGRESS-006"
	idOwnResolver         = "MCPA-EGRESS-007"
)

var egressRules = []family{
	{undeclaredEgress, findContacts(idUndeclaredEgress)},
	{metadataService, findContacts(idMetadataService)},
	{otherHost, findContacts(idOtherHost)},
	{startupEgress, findContacts(idStartupEgress)},
	{idleEgress, findContacts(idIdleEgress)},
	{undeclaredTelemetry, findContacts(idUndeclaredTelemetry)},
	{ownResolver, findContacts(idOwnResolver)},
}

const (
	egressFix        = "Say in the description that the capability uses the network, and for what; or keep off it."
	egressMitigation = "Deny egress to {object} by a NetworkPolicy, or by an egress list in the declared scope that does not have it; " +
		"if it is known and wanted, put it there."
)

var undeclaredEgress = Rule{
	ID: idUndeclaredEgress, Severity: report.SeverityHigh, Title: "Undeclared network egress",
	Description: "In a call, an address outside the machine was connected to or sent to, or a name was looked up, with or without " +
		"success. High where the operator's egress list does not have it (at any time), and where a text of the declaration promises otherwise " +
		"(\"purely local\", \"no network access\"); " +
		"Medium where the declaration neither promises nor speaks of the network, or does both. What a " +
		"capability does is held against its own declaration first and then against the server's. A host or address that an " +
		"argument of the capability named is explained, unless the declaration denies it; outside of the operator's list it is Medium. " +
		"Loopback, unix sockets, and connects that send nothing " +
		"(datagram sockets that only ask for a route) are no findings; where only openWorldHint: false promises otherwise, " +
		"it is MCPA-HINT-004. The rules that follow go before this one.",
	Fix: egressFix,
	Expected: "A tool whose description says in words that the scope does not know that it uses the network: Medium. A promise that is about " +
		"something else than the network; promises are read by whole phrases, and one that is contradicted nearby counts as Medium.",
	Mitigation: egressMitigation,
	References: []string{"OWASP MCP02:2025", "OWASP MCP10:2025"},
}

var metadataService = Rule{
	ID: idMetadataService, Severity: report.SeverityHigh, Title: "Cloud metadata service contacted",
	Description: "An address or name was connected to or looked up at which a cloud hands out the machine's own credentials " +
		"(169.254.169.254, metadata.google.internal and their like). A declaration that speaks of the network does not cover " +
		"that; one that speaks of the cloud does, and so does an operator's egress list that has it.",
	Fix: "Take credentials from the server's configuration; or say in the description that it works with that cloud.",
	Expected: "A cloud's SDK that looks for credentials everywhere when it is given none, in a server that does not name the cloud. It would " +
		"have used the machine's.",
	Mitigation: "Block {object} by a NetworkPolicy (ipBlock with except), require IMDSv2 with a hop limit of 1, or use workload identity.",
	References: []string{"OWASP MCP01:2025", "OWASP MCP02:2025"},
}

var otherHost = Rule{
	ID: idOtherHost, Severity: report.SeverityMedium, Title: "Other host than the arguments name",
	Description: "A capability that speaks of the network went to the host that an argument of the call named, and to another one that " +
		"no argument named. No finding where it never goes to the host of the argument itself, for then a service does that for it; nor where " +
		"the manifest names the other host or its owner, and for package registries and what a browser asks for by itself.",
	Fix: "Say in the description to which service it talks besides; or keep off it.",
	Expected: "A tool that fetches a page and then has a service convert it that the manifest does not name. Redirects are none: " +
		"the sinkhole of the audit answers with no redirect.",
	Mitigation: egressMitigation,
	References: []string{"OWASP MCP10:2025", "OWASP MCP02:2025"},
}

var startupEgress = Rule{
	ID: idStartupEgress, Severity: report.SeverityHigh, Title: "Undeclared egress at start-up",
	Description: "Before the first call (at start-up, in the handshake, or when it was asked for its lists) the server went to an address " +
		"outside the machine or looked up a name. High where its declaration promises to keep off the network, Medium where nothing " +
		"in the whole manifest speaks of it. What goes on since then is the same finding. Look-ups of package registries by " +
		"the launcher in the command (npx, uvx) are none.",
	Fix:        egressFix,
	Expected:   "A look for a newer version of itself, in a server that otherwise keeps off the network: that is undeclared egress, too.",
	Mitigation: egressMitigation,
	References: []string{"OWASP MCP04:2025", "OWASP MCP10:2025"},
}

var idleEgress = Rule{
	ID: idIdleEgress, Severity: report.SeverityHigh, Title: "Egress that no call asked for",
	Description: "After the calls, while nobody asked it anything or when it was to end, the server went to an address outside the machine " +
		"or looked up a name. High where its declaration promises to keep off the network, Medium where nothing in the whole manifest " +
		"speaks of it, and Low where something does, but the server went there at no other time and the manifest does not name it.",
	Fix: "Do in calls what is done for them, and say in the instructions what the server does by itself.",
	Expected: "A server that speaks of the network and keeps a connection alive, or polls, at a host that no call of the audit led to: Low. " +
		"Package registries and what a browser asks for by itself are left out.",
	Mitigation: egressMitigation,
	References: []string{"OWASP MCP10:2025", "OWASP MCP02:2025"},
}

var undeclaredTelemetry = Rule{
	ID: idUndeclaredTelemetry, Severity: report.SeverityHigh, Title: "Undeclared telemetry",
	Description: "A service that takes reports on how a program is used or how it failed was contacted (PostHog, Segment, Sentry, Amplitude, " +
		"Mixpanel, Google Analytics, Application Insights, Statsig and their like). High where the declaration promises none, or to keep off the network; " +
		"Medium where it speaks of neither; Low where it speaks of the network. No finding where the manifest speaks of telemetry, " +
		"or of that service.",
	Fix:        "Say so in the instructions, with how to turn it off; or leave it to the user to turn it on.",
	Expected:   "A server that works with such a service for its user, and names neither it nor what it is for.",
	Mitigation: "Turn it off in the server's environment (DO_NOT_TRACK=1, or the server's own variable), and deny egress to {object} by a NetworkPolicy.",
	References: []string{"OWASP MCP10:2025"},
}

var ownResolver = Rule{
	ID: idOwnResolver, Severity: report.SeverityHigh, Title: "Name server of its own",
	Description: "A name was looked up at a name server that the machine does not have (resolv.conf), or at a known service that answers over " +
		"HTTPS or TLS. What is asked there passes by the machine's filter and log, and a question may carry anything. High where the declaration " +
		"promises to keep off the network, else Medium, even where it speaks of it. No finding where it speaks of DNS, or an argument named the server.",
	Fix: "Ask the name servers of the machine, as the functions of the language's library do.",
	Expected: "A server in a container whose resolv.conf is not that of the audit's machine: where that cannot be read, only the known services " +
		"count. A browser's secure DNS is left out where the manifest speaks of a browser.",
	Mitigation: "Allow DNS only to the cluster's name servers by a NetworkPolicy (ports 53 and 853), and deny {object}.",
	References: []string{"OWASP MCP02:2025", "OWASP MCP10:2025"},
}
