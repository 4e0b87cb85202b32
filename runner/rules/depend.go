package rules

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// Dependence is output of the server that changes with a decoy secret.
type Dependence struct {
	// Leak has the channel, and the output as its excerpt.
	leak.Leak
	// Other is the output with another secret.
	Other string
}

// findDependences makes a finding of each channel that nothing allows, unless the secret
// itself was found there.
func findDependences(in Input) (all []draft) {
	for _, d := range in.Dependences {
		found := slices.ContainsFunc(in.Leaks, func(l leak.Leak) bool {
			return l.Decoy == d.Decoy && l.Channel.Network() == d.Channel.Network() && (l.Destination == d.Destination || !d.Channel.Network())
		})
		if found || in.allowed(d.Leak) && (d.Home || d.Decoy.Variable || in.gives(d.Leak)) {
			continue
		}
		to := "its " + string(d.Channel)
		switch {
		case d.Channel == leak.File:
			to = "the name, size, mode or times of files in " + clean(d.Destination, 256)
		case d.Channel == leak.Stderr || d.Channel == leak.Stdout:
			to = string(d.Channel)
		case d.Channel.Network() && d.Destination != "":
			to = clean(d.Destination, 256) + " (" + string(d.Channel) + ")"
		}
		evidence := d.Evidence()
		evidence.Detail = "with one secret: " + d.Excerpt + "\nwith another: " + d.Other
		all = append(all, draft{
			severity: report.SeverityHigh, phase: d.Phase, capability: d.Capability,
			object: strings.TrimSpace(string(d.Channel) + " " + d.Destination),
			message: sentence("%s sent to %s what depends on the decoy secret %s: it was the same in each launch with the same secret, and changed with it",
				subject(profile.Effect{Where: d.Where}), to, secret(d.Decoy)),
			evidence: evidence, order: len(in.Profile.Effects) + 1,
		})
	}
	return all
}

// gives reports whether a declaration says that something of a secret is output, not only that
// there is a file with one.
func (in Input) gives(l leak.Leak) bool {
	for of, text := range in.descriptions() {
		if (of == l.Capability || l.Capability.Kind == report.CapabilityServer) && denial.MatchString(text) {
			return false
		}
	}
	return in.Scope.Covering(l.Capability).Mentions(lexicon().GivingWords...)
}

// denial matches declarations that nothing of a secret is output.
var denial = lazyregexp.New(`(?i)\b(?:no|never|not|without|nor|none)\b[^.!?\n]{0,40}\b(?:keys?|secrets?|credentials?|tokens?|passwords?|values?|private)\b`)

// descriptions returns the titles and descriptions by capability.
func (in Input) descriptions() map[report.Capability]string {
	all := map[report.Capability]string{}
	in.eachText(func(of report.Capability, field, text string) {
		if field == "description" || field == "title" {
			all[of] += text + "\n"
		}
	})
	return all
}
