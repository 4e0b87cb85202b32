package rules

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

var traversal = Rule{
	ID: "MCPA-FILE-003", Severity: report.SeverityHigh, Title: "Path traversal out of the allowed directory",
	Description: "A file was opened, listed, changed or deleted, with success, that lies outside the directory which the server is " +
		"bound to, because an argument of the audit led there by \"..\". That a server is bound to a directory it says in its declaration " +
		"(\"within the allowed directories\", \"in the workspace\"), by asking the client for its roots, or (Medium) by a directory on its " +
		"command line that it uses. One that is bound to none opens what it is told: that is what it is for. The audit calls each tool that " +
		"takes a path with two such arguments, after all others, and only a file that the audit has put there is opened.",
	Fix: "Resolve the path (realpath(3)) after it was joined with the root, and compare whole components with the root's; or open it with " +
		"openat2(2) and RESOLVE_BENEATH, os.Root in Go.",
	Expected: "A directory on the command line that is no bound: a place for output, in a server that may read everything. Such a finding is Medium.",
	Mitigation: "Mount only the allowed directory into the server's container, and the root file system read-only: what \"..\" leads to is not there then. " +
		"Have a gateway refuse arguments with \"..\" for this tool.",
	References: []string{"OWASP MCP05:2025", "SAFE-T1105"},
}

// bounded are sentences that say where a server keeps to.
var bounded = regexp.MustCompile(`(?i)\b(?:allowed|permitted|allow-?listed|whitelisted|sandboxed|authorized|accessible) (?:root )?(?:director|folder|path|root|location)` +
	`|\b(?:in|from|under|of) (?:the |your |its |this |a )?(?:workspace|sandbox|vault)\b` +
	`|\b(?:within|inside|restricted to|limited to|confined to) (?:the |your |its |this |a )?(?:\w+ )?` +
	`(?:workspace|sandbox|vault|(?:project|base|root|working|workspace) (?:director|folder|root))`)

// unbound are sentences that only say what is taken where nothing is given.
var unbound = regexp.MustCompile(`(?i)\bdefaults?\b|\bif (?:omitted|not|none)\b`)

func findTraversals(in Input) []draft {
	return each(in, func(e profile.Effect, d *draft) bool {
		if !inputs.Outside(e.Path) || e.Capability.Kind == report.CapabilityServer {
			return false
		}
		d.object = inputs.OutsideDir
		did := subject(e) + " " + reached(e) + " " + clean(e.Path, 256) + `, where an argument with ".." led`
		d.severity = report.SeverityHigh
		for _, clause := range in.Scope.Covering(e.Capability).Files {
			if bounded.MatchString(clause.Quote) && !unbound.MatchString(clause.Quote) {
				d.message = sentence("%s; %s", did, whose(clause, e.Capability))
				return true
			}
		}
		if slices.ContainsFunc(in.Outputs, func(o report.Output) bool { return o.Kind == report.OutputRequest && o.Method == "roots/list" }) {
			d.message = sentence("%s; the server had asked for the client's roots, and it lies in none of them", did)
			return true
		}
		roots := in.roots()
		if len(roots) == 0 || slices.ContainsFunc(roots, func(root string) bool { return root == "/" || isBelow(e.Path, root) }) {
			return false
		}
		d.severity = report.SeverityMedium
		d.message = sentence("%s; the server was started for %s", did, clean(strings.Join(roots, ", "), 256))
		return true
	}, profile.KindRead, profile.KindList, profile.KindWrite, profile.KindDelete)
}

// reached says what was done outside.
func reached(e profile.Effect) string {
	switch e.Kind {
	case profile.KindRead:
		return "opened"
	case profile.KindList:
		return "listed"
	}
	return change(e)
}

// roots are the directories on the command line that the server uses: those that it
// has opened, or something below them, or has tried to.
func (in Input) roots() []string {
	var found []string
	for i, arg := range in.Command {
		if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
			arg = value
		}
		arg = path.Clean(arg)
		if i == 0 || !path.IsAbs(arg) || path.Ext(arg) != "" || systemic(arg) || slices.Contains(found, arg) {
			continue
		}
		if arg == "/" || slices.ContainsFunc(in.Profile.Effects, func(e profile.Effect) bool {
			return isBelow(e.Path, arg) || e.Path == arg && e.Kind == profile.KindList
		}) {
			found = append(found, arg)
		}
	}
	return found
}
