package main

// introduction stands above the rules.
const introduction = `# Rules

<!-- Generated from runner/rules by make generate: edit the rules, not this file. -->

A rule compares what a server did with what it declares, or looks for what no honest
text has in it. A finding is an observation: it names the path, the host or the
program, quotes the declaration that it goes beyond, and has the system call or the
text as its evidence. It says nothing about what anybody intended.

* **One effect gives one finding.** The most specific rule has it.
* **The declaration is read first.** A list of the operator's (` + "`spec.declaredScope`, `--scope`" + `) goes
  before ` + "`server.json`" + `, that before annotations, those before texts. What it allows is no finding;
  what goes beyond an explicit limit is a finding that quotes it, High as a rule; where nothing is said, the rule decides as
  described here.
* **What the arguments of a call explain is no finding:** a tool that fetches the URL it was given does what it is
  for. The same connect in another call is not explained.
* **Nothing that was not seen is judged.** What an audit could not observe makes it Inconclusive, by the
  verdict and not by a finding.
* **The severity** given here is the highest that the rule gives; its text says when it is less. Verdicts fail from a
  threshold on (` + "`--fail-on`, `spec.failOn`" + `; High by default). [risk.md](risk.md) has the score, and
  [suppressions.md](suppressions.md) how a finding is accepted for a time.
* **The ruleset has a digest,** ` + "`rulesetDigest`" + ` in every report and the second line of ` + "`mcpaudit version`" + `: SHA-256 over the
  source of all packages that judge. Two audits with the same digest were judged by the same rules; another digest may
  stand for no more than a comment that was reworded.

` + "`mcpaudit rules`" + ` lists the rules and ` + "`mcpaudit rules MCPA-EGRESS-001`" + ` explains one, offline. Each rule has a test of either
side: something that it finds, and something close to that which it does not
(` + "`runner/rules/proof_test.go`" + ` holds every rule to both). ` + "`make eval`" + ` measures them on
servers that are known.
`

// aboutCatalogues stands above the list of references.
const aboutCatalogues = `## Other catalogues

The entries of the [OWASP MCP Top 10](https://owasp.org/www-project-mcp-top-10/) (2025, beta) and the techniques of
[SAFE-MCP](https://github.com/safe-agentic-framework/safe-mcp) (May 2026) that rules refer to, and the parts of the specification
of MCP that rules about the protocol hold a server to. A reference says that the
rule can see a trace of that entry, not that it covers it. Identifiers and titles were held against the catalogues
themselves. The NSA's recommendations on MCP (May 2026, U/OO/6030316-26) are not mapped: the numbers that
are given to them elsewhere differ, and the document could not be consulted.`

// family holds what the rules of one family have in common.
type family struct{ title, about string }

// families are introduced in one or two sentences each.
var families = map[string]family{
	"EGRESS": {"Network egress", "What leaves the machine. In the sandbox nothing does: the sinkhole answers, so that an attempt is seen with what it would have sent."},
	"FILE": {"Files", "What was read and written besides the server's own files. What language runtimes and libraries open by themselves is left out " +
		"of the profile before a rule sees it, and counted as noise."},
	"EXEC":    {"Processes", "Programs that were started, and with which arguments."},
	"SECRET":  {"Secrets", "Decoy secrets that the audit plants in the home directory and the environment, each different in every run: where one turns up, there is no doubt where it came from."},
	"PERSIST": {"Persistence", "What is left behind and runs, or is obeyed, when the server is gone."},
	"HINT": {"Annotations", "Tool annotations that the observed behaviour contradicts. Only the restrictive hints are held against a server: " +
		"those that promise something, and that are not a default."},
	"MANIFEST": {"Manifest", "What the server advertises, compared with a baseline and within one audit: between the beginning and the end of a session, after a restart, for another client, at a later date."},
	"BEHAVIOR": {"Behaviour drift", "What the server did, compared with a baseline: the same manifest with other conduct behind it."},
	"POISON":   {"Poisoned manifests", "Texts of the manifest that address the model and not the person who reviews them. Every text is read: descriptions, titles, names, schemas with their enums and defaults, instructions, prompts and resources."},
	"OUTPUT":   {"Poisoned outputs", "What came back from calls. What the audit itself had handed in is not held against the server."},
	"SQUAT":    {"Impersonation", "Names that look like those of somebody else's server or package."},
	"PROTOCOL": {"Protocol", "Breaches of the specification that clients take differently, so that one shows what another hides."},
	"EVADE":    {"Evasion", "Attempts to escape from the tracer or the sandbox, or to find out about them. An audit that was evaded is never a Pass."},
	"SOCKET":   {"Control sockets", "Sockets by which whoever speaks to them has more than the server was given."},
	"LISTEN":   {"Listening", "Where the server can be reached from."},
	"PRIV":     {"Privilege", "What the server asks the machine for beyond an ordinary program's rights."},
	"SCOPE":    {"Declared scope", "The declaration itself: what it allows and was not made use of, and what in it could not be understood."},
}
