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

// Use is one thing that a server did.
type Use struct {
	Kind UseKind
	// Host, Address and Port are those of report.Connection: of UseEgress and UseListen.
	Host, Address string
	Port          int
	// Path is that of UseRead, UseWrite and UseExec: absolute and clean.
	Path string
}

// Answer is what a scope says about a use.
type Answer int

// The answers.
const (
	// Unsaid: no list covers this kind; words count.
	Unsaid Answer = iota
	// Allowed: a list, or a place named in the declaration, has it.
	Allowed
	// Exceeded: a list of this kind is there and has it not. The Clause is the list.
	Exceeded
)

// Answer tells whether the declared scope has a use, and by which clause.
func (s Scope) Answer(report.Capability, Use) (Answer, Clause) { return Unsaid, Clause{} }

// Hint finds a restrictive hint of a tool that is not its default: readOnlyHint true,
// destructiveHint false, idempotentHint true, openWorldHint false. Those are the only
// values that promise anything (schema 2025-06-18, ToolAnnotations).
func (s Scope) Hint(report.Capability, string) (Clause, bool) { return Clause{}, false }
