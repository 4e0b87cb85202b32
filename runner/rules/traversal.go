package rules

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

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
		if clause, ok := in.statedBound(e.Capability); ok {
			d.message = sentence("%s; %s", did, whose(clause, e.Capability))
			return true
		}
		if in.AsksForRoots() {
			d.message = sentence("%s; the server had asked for the client's roots, and it lies in none of them", did)
			return true
		}
		roots := in.roots()
		if len(roots) == 0 || slices.ContainsFunc(roots, func(root string) bool { return root == "/" || places.Below(e.Path, root) }) {
			return false
		}
		d.severity = report.SeverityMedium
		d.message = sentence("%s; the server was started for %s", did, clean(strings.Join(roots, ", "), 256))
		return true
	}, profile.KindRead, profile.KindList, profile.KindWrite, profile.KindDelete)
}

// statedBound finds the sentence in which a capability, or the server, says that it keeps to
// some directory.
func (in Input) statedBound(of report.Capability) (scope.Clause, bool) {
	for _, clause := range in.Scope.Covering(of).Files {
		if bounded.MatchString(clause.Quote) && !unbound.MatchString(clause.Quote) {
			return clause, true
		}
	}
	return scope.Clause{}, false
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
			return places.Below(e.Path, arg) || e.Path == arg && e.Kind == profile.KindList
		}) {
			found = append(found, arg)
		}
	}
	return found
}
