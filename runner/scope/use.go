package scope

import "github.com/mcpaudit/mcpaudit/api/report"

// UseKind is a kind of use that a list of a scope can allow.
type UseKind string

// The kinds, by the lists of report.DeclaredScope.
const (
	UseEgress UseKind = "egress"
	UseRead   UseKind = "readPaths"
	UseWrite  UseKind = "writePaths"
	UseExec   UseKind = "exec"
	UseListen UseKind = "listen"
)

// Use is one thing that a server did. Which uses are asked about is for the rules
// to decide; a list of an operator is about what the server was made to do, so
// they leave out
//   - what is noise (runner/noise), and what failed before it had any effect;
//   - UseEgress, UseListen: what stays on the machine (loopback), and the port by
//     which the audit itself talks to the server;
//   - UseRead: what a server loads before its first call, and its own code,
//     libraries and data files later;
//   - UseWrite: what is no file of anybody's: /dev/null, a pipe, a terminal, what
//     the server itself has removed again in a directory for temporary files;
//   - UseExec: what a launcher starts until the server reads its first request.
type Use struct {
	Kind UseKind
	// Host, Address and Port are set for UseEgress and UseListen, as in report.Connection. Host and FQDN are
	// canonical, as in profile.Effect. Port 53 with a Host is a DNS query for that name.
	Host, FQDN, Address string
	// Named is the name that was resolved to the address, where Host is a domain above it; "" for Host itself.
	Named string
	Port  int
	// Path is set for UseRead, UseWrite and UseExec: absolute and clean.
	Path string
}

// Answer of a scope about a use.
type Answer int

// The answers.
const (
	// Unsaid: no list covers this kind; words count.
	Unsaid Answer = iota
	// Allowed: a list, or a place named in the declaration, has it.
	Allowed
	// Exceeded: there is a list of this kind without it. The Clause is the list.
	Exceeded
)

// Answer reports whether the declared scope covers a use, and by which clause. A list of
// the operator decides alone; without one, a place that the capability's own declaration
// or the server's names is Allowed. For Kind Server, any declaration may name it.
//
// The server itself wrote sources Text and ServerJSON, so each rule decides what they excuse: they
// explain a connection, but not the reading of a secret.
func (s Scope) Answer(of report.Capability, use Use) (Answer, Clause) {
	if list, ok := s.rulings[use.Kind]; ok {
		return list.answer(use)
	}
	if stance, _ := s.Network(of); use.Kind == UseEgress && (stance == Denied || stance == Unclear) {
		return Unsaid, Clause{} // naming a host does not revoke the promise
	}
	for _, d := range []Declaration{s.items[of], s.server} {
		if clause, ok := d.answer(use); ok {
			return Allowed, clause
		}
	}
	if of.Kind == report.CapabilityServer {
		if clause, ok := s.whole.answer(use); ok {
			return Allowed, clause
		}
	}
	return Unsaid, Clause{}
}

// Hint finds a restrictive hint of a tool that is not its default: readOnlyHint true,
// destructiveHint false, idempotentHint true, openWorldHint false. Those are the only
// values that promise anything (schema 2025-06-18, ToolAnnotations).
func (s Scope) Hint(of report.Capability, name string) (Clause, bool) {
	clause, ok := s.items[of].hints[name]
	return clause, ok
}
