package main

import "github.com/mcpaudit/mcpaudit/api/report"

// remoteCodeExecution is the specimen with the highest score.
const remoteCodeExecution = "go/quotes"

// leaks are the findings of the leaky servers, which read a decoy and send it to an undeclared
// address in each call.
var leaks = []string{"MCPA-EGRESS-001 High", "MCPA-SECRET-001 High", "MCPA-SECRET-002 Critical"}

func fails(name string, findings ...string) specimen {
	return specimen{name: name, verdict: report.VerdictFail, findings: findings}
}

func passes(name string, findings ...string) specimen {
	return specimen{name: name, findings: findings}
}

// specimens are the servers of test/servers, the honest ones first.
var specimens = []specimen{
	passes("go/honest"),
	passes("node/honest.js"),
	passes("python/honest.py"),
	passes("go/rugpull capabilities"),
	passes("node/later.js today"),
	passes("go/rugpull volatile", "MCPA-MANIFEST-003 Low"),

	fails("go/leaky", leaks...),
	fails("node/leaky.js", leaks...),
	fails("python/leaky.py", leaks...),
	fails("go/leaky https base64", leaks...),
	fails("go/leaky http gzip", leaks...),

	// Runs its argument as a command, and sends a token with its requests.
	fails(remoteCodeExecution, "MCPA-EGRESS-001 High", "MCPA-EXEC-001 Medium", "MCPA-EXEC-002 High", "MCPA-SECRET-002 Critical"),
	// Connect to the address in their arguments, or elsewhere.
	passes("go/fetch"),
	passes("go/fetch second", "MCPA-EGRESS-003 Medium"),
	passes("go/fetch late", "MCPA-EGRESS-005 Low"),
	passes("go/fetch telemetry", "MCPA-EGRESS-006 Low"),
	passes("go/fetch open", "MCPA-LISTEN-001 Medium"),

	fails("go/rugpull session", "MCPA-MANIFEST-002 High"),
	fails("go/rugpull restart", "MCPA-MANIFEST-003 High"),
	fails("go/rugpull third", "MCPA-MANIFEST-003 High"),
	fails("go/rugpull identity", "MCPA-MANIFEST-004 High"),
	fails("go/rugpull conduct", "MCPA-SECRET-001 High"),

	// Misbehave after a number of requests.
	fails("node/later.js often call 10", "MCPA-SECRET-001 High"),
	fails("node/later.js often call 240", "MCPA-SECRET-001 High"),
	fails("node/later.js often list 100", "MCPA-MANIFEST-002 High"),

	// Misbehave only in a user's environment.
	passes("node/keyed.js honest"),
	passes("python/keyed.py honest"),
	fails("node/keyed.js editor", "MCPA-SECRET-001 High"),
	fails("node/keyed.js abroad", "MCPA-SECRET-001 High"),
	fails("node/keyed.js cursor", "MCPA-SECRET-001 High"),
	fails("python/keyed.py cluster", "MCPA-SECRET-001 High"),
	fails("python/keyed.py user", "MCPA-SECRET-001 High"),
	fails("python/keyed.py desktop", "MCPA-SECRET-001 High"),
	fails("python/keyed.py letter", "MCPA-SECRET-001 High"),
	fails("python/keyed.py pasted", "MCPA-SECRET-001 High"),
	fails("python/keyed.py unknown", "MCPA-SECRET-001 High"),

	// Answer with instructions to the model.
	fails("go/tickets", "MCPA-OUTPUT-001 High", "MCPA-OUTPUT-001 High"),
	fails("go/documents twittter-mcp", "MCPA-OUTPUT-001 High", "MCPA-OUTPUT-002 High", "MCPA-OUTPUT-004 High", "MCPA-SQUAT-001 Medium"),

	// Allow paths that leave their directory.
	passes("python/workspace.py DIR contained"),
	fails("python/workspace.py DIR", "MCPA-FILE-003 High", "MCPA-FILE-003 High", "MCPA-FILE-003 Medium"),
	fails("python/workspace.py DIR prefix", "MCPA-FILE-003 High", "MCPA-FILE-003 High", "MCPA-FILE-003 High"),
	fails("python/workspace.py DIR lexical", "MCPA-FILE-003 High", "MCPA-FILE-003 High"),

	// Have guards that can be bypassed.
	passes("python/guards.py fixed"),
	fails("python/guards.py", "MCPA-EXEC-002 Critical", "MCPA-EXEC-002 High", "MCPA-EXEC-002 High",
		"MCPA-EXEC-004 High", "MCPA-EXEC-004 High", "MCPA-EXEC-005 Medium", "MCPA-FILE-003 High", "MCPA-FILE-003 High", "MCPA-FILE-003 Medium"),
	passes("node/guards.js fixed"),
	fails("node/guards.js", "MCPA-EXEC-002 High", "MCPA-EXEC-002 High", "MCPA-EXEC-002 High", "MCPA-EXEC-002 High", "MCPA-EXEC-002 High", "MCPA-EXEC-002 High",
		"MCPA-EXEC-004 High", "MCPA-FILE-003 High"),

	passes("node/lookup.js fixed"),
	fails("node/lookup.js", "MCPA-EXEC-002 High", "MCPA-EXEC-004 High", "MCPA-FILE-003 High", "MCPA-FILE-003 Medium"),
	passes("python/keeper.py fixed"),
	fails("python/keeper.py", "MCPA-EXEC-002 High", "MCPA-FILE-003 High", "MCPA-FILE-003 Medium", "MCPA-QUERY-001 High", "MCPA-SECRET-005 Medium"),

	// Contain credentials and disclose them.
	passes("python/orders.py fixed"),
	fails("python/orders.py", "MCPA-SECRET-005 High", "MCPA-SECRET-005 Medium"),

	// Have guards of addresses that can be bypassed.
	passes("python/egress.py fixed"),
	fails("python/egress.py", "MCPA-EGRESS-008 High", "MCPA-EGRESS-008 High", "MCPA-EGRESS-008 High", "MCPA-EGRESS-008 Medium", "MCPA-EGRESS-008 Medium", "MCPA-FILE-003 Medium"),
	passes("node/egress.js fixed"),
	fails("node/egress.js", "MCPA-EGRESS-008 High", "MCPA-EGRESS-008 High", "MCPA-EGRESS-008 High", "MCPA-EGRESS-008 Medium", "MCPA-EGRESS-008 Medium"),
	passes("go/egress fixed"),
	fails("go/egress", "MCPA-EGRESS-008 High", "MCPA-EGRESS-008 High", "MCPA-EGRESS-008 High", "MCPA-EGRESS-008 Medium", "MCPA-EGRESS-008 Medium"),

	// Send to additional recipients.
	passes("python/mailer.py fixed"),
	fails("python/mailer.py", "MCPA-EGRESS-009 High"),
	passes("node/mailer.js fixed"),
	fails("node/mailer.js", "MCPA-EGRESS-009 High"),
	fails("node/mailer.js twice", "MCPA-EGRESS-009 High"),
	passes("go/mailer fixed"),
	fails("go/mailer", "MCPA-EGRESS-009 High"),

	// Build statements in which an argument can end its string.
	passes("python/query.py fixed"), passes("python/shelf.py fixed"), passes("python/shelf.py fixed memory"),
	fails("python/shelf.py", "MCPA-QUERY-001 High", "MCPA-QUERY-001 High", "MCPA-QUERY-001 High", "MCPA-QUERY-001 High", "MCPA-QUERY-002 High", "MCPA-QUERY-002 High"),
	fails("python/shelf.py memory", "MCPA-QUERY-001 High", "MCPA-QUERY-001 High", "MCPA-QUERY-001 High", "MCPA-QUERY-001 High", "MCPA-QUERY-002 High", "MCPA-QUERY-002 High"),
	fails("python/query.py", "MCPA-QUERY-001 High", "MCPA-QUERY-001 High", "MCPA-QUERY-001 High", "MCPA-QUERY-001 High", "MCPA-QUERY-002 High", "MCPA-QUERY-002 High"),

	// Have hints, true or false.
	passes("go/hints keep"),
	fails("go/hints lie", "MCPA-EXEC-002 High", "MCPA-HINT-001 High", "MCPA-HINT-002 Medium", "MCPA-HINT-003 Medium", "MCPA-HINT-004 High"),
}
